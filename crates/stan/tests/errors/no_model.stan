data { int N; }
