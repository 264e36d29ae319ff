parameters { real x }
model { }
