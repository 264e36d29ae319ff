"""What tests have in common."""

import os
import pathlib

import pytest

import lambada

REPOSITORY = pathlib.Path(os.environ.get("LAMBADA_REPOSITORY") or pathlib.Path(__file__).resolve().parents[3])

PROGRAM = """
--| Half the squared distance.
def loss [n] (w : [n]real) (x : [n]real) : real = 0.5 * sum ((w - x) * (w - x))

--| A line.
type line = {slope : real, offsets : [2]real}

def at (p : line) (x : real) = p.slope * x + sum p.offsets

type shape = Circle real | Box real real | Empty

def area (s : shape) : real = match s
  | Circle r -> pi * r * r
  | Box a b -> a * b
  | Empty -> 0.0

type chain = Nil | Cons real chain

def rec total (c : chain) : real = match c
  | Nil -> 0.0
  | Cons x rest -> x + total rest

def upto (n : int) : chain =
  let rec go (k : int) (c : chain) : chain = if k == 0 then c else go (k - 1) (Cons (real k) c)
  in go n Nil

def twice [n] [m] (x : [n][m]real) : [n][m]real = 2.0 * x

def count [n] (k : [n]int) : int = sum k

def either [n] (b : [n]bool) : bool = reduce (\\p q -> p || q) false b

def pairs [n] (p : [n](real, int)) : real = sum (for (a, k) in p => a * real k)

def points [n] (p : [n]{x : real, y : real}) : real = sum (for q in p => q.x * q.y)

def both (x : real) : (real, {value : real, exact : bool}) = (x, {value = 2.0 * x, exact = true})

def pick [n] (x : [n]real) (k : int) : real = x[k]

def flag (b : bool) (k : int) (r : real) : real = if b then r + real k else r

def chained [n] (x : [n]real) : [n]real = for i < n => if i == 0 then x[0] else x[i] * x[i - 1]

def answer : real = 42.0
"""


@pytest.fixture(scope="session")
def m():
    return lambada.compile(PROGRAM, name="tests.lam")
