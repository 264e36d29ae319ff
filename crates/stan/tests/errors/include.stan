#include "functions.stan"
model { }
