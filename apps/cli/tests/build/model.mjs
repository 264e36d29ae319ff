// Calls everything that the module of model.lam offers, whose folder is the argument.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { LambadaError, load, version } = await import(new URL("model.mjs", folder));
const model = await load();

const list = (array) => Array.from(array);
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-12 * (1 + Math.abs(b)), `${a} is not ${b}`);
const fails = (call, kind, text) =>
  assert.throws(call, (error) => {
    assert.ok(error instanceof LambadaError && error.kind === kind && error.message.includes(text), `${error}`);
    return true;
  });
const wrong = (call, type, text) =>
  assert.throws(call, (error) => {
    assert.ok(error instanceof type && error.message.includes(text), `${error}`);
    return true;
  });

// Derivatives; a matrix in every form that it may have.
const [w, b, y] = [[1, 2], 0.5, [1, 2, 3]];
const flat = Float64Array.of(1, 2, 3, 4, 5, 6);
const matrices = [
  [[1, 2], [3, 4], [5, 6]], [flat.subarray(0, 2), flat.subarray(2, 4), flat.subarray(4)],
  flat, Int32Array.from(flat), { data: flat, shape: [3, 2] }, { data: list(flat), shape: [3, 2] },
];
for (const x of matrices) {
  near(model.loss(w, b, x, y), (4.5 ** 2 + 9.5 ** 2 + 14.5 ** 2) / 3);
  const [value, gradient] = model.loss_grad(w, b, x, y);
  near(value, (4.5 ** 2 + 9.5 ** 2 + 14.5 ** 2) / 3);
  near(gradient.w[0], (2 * (4.5 * 1 + 9.5 * 3 + 14.5 * 5)) / 3);
  near(gradient.w[1], (2 * (4.5 * 2 + 9.5 * 4 + 14.5 * 6)) / 3);
  near(gradient.b, (2 * (4.5 + 9.5 + 14.5)) / 3);
  near(model.loss_jvp(w, b, x, y, [[1, 0], [0, 0], [0, 0]])[1], (2 * 4.5) / 3);
}

// Structures.
const shapes = [{ Rect: [{ width: 2, height: 3 }] }, { Circle: [2] }, { Rect: [{ width: 4, height: 5 }] }];
assert.equal(model.area(shapes[0]), 6);
assert.deepEqual(model.area_grad(shapes[0]), [6, { s: { Circle: [0], Rect: [{ width: 3, height: 2 }] } }]);
assert.equal(model.areas(shapes), 6 + 12 + 20);
assert.equal(model.areas([]), 0);
assert.deepEqual(model.turned({ y: 1, x: 2 }), { y: 2, x: -1 });
const points = { y: [1, 2], x: Float64Array.of(3, 4) };
assert.deepEqual(model.swapped(points), { y: Float64Array.of(3, 4), x: Float64Array.of(1, 2) });
assert.deepEqual(model.swapped([{ y: 1, x: 3 }, { y: 2, x: 4 }]), model.swapped(points));
assert.deepEqual(model.swapped(model.swapped(points)), { y: Float64Array.of(1, 2), x: Float64Array.of(3, 4) });
assert.deepEqual(model.grown(shapes, 2), [{ Rect: [{ width: 4, height: 6 }] }, { Circle: [4] }, { Rect: [{ width: 8, height: 10 }] }]);
assert.deepEqual(model.signs([1, -2]), ["Plus", "Minus"]);
assert.equal(model.plus(["Plus", "Minus", "Plus"]), 2n);
assert.deepEqual(model.outer([1, 2], [3, 4, 5]), { data: Float64Array.of(3, 4, 5, 6, 8, 10), shape: [2, 3] });
assert.deepEqual(model.pairs([[1, 2], [3, 4]]), [Float64Array.of(2, 4), BigInt64Array.of(3n, 5n)]);
assert.deepEqual(model.pairs([Float64Array.of(1, 3), Int32Array.of(2, 4)]), model.pairs([[1, 2], [3, 4]]));

// Sizes.
assert.deepEqual(list(model.positive([-1, 2, -3, 4])), [2, 4]);
assert.deepEqual(list(model.positive([])), []);
assert.deepEqual(list(model.positive_vjp([-1, 2, -3, 4], [10, 20])[1].xs), [0, 10, 0, 20]);
fails(() => model.positive_vjp([-1, 2, -3, 4], [10]), "check", "has size 1");
assert.deepEqual(list(model.wider([-1, 4])), [-1, 4, 1]);
assert.equal(model.triangle([1, 2, 3], [4, 5, 6]), 21);
assert.deepEqual(list(model.table(4)), [0, 1, 2, 3]);
assert.deepEqual(model.pick([-1, 2, -3, 4], 1), [2, true, 1n]);
assert.deepEqual(model.pick([-1, 2, -3, 4], 0n), [-1, false, 0n]);

// Recursion: Node (Leaf 3) (Leaf 4).
const rows = { constructors: [0, 0, 1], ints_at: [0, 0, 0], reals_at: [0, 1, 2], ints: [1, 2], reals: [3, 4] };
assert.equal(model.total({ value: 3, rows }), 25);
const [total, { t }, ct] = model.total_grad({ value: 3, rows });
const left = ct.ints[Number(ct.ints_at[Number(t) - 1])];
assert.deepEqual([total, ct.constructors.length, ct.reals[Number(ct.reals_at[Number(left) - 1])]], [25, 3, 6]);
fails(() => model.total({ value: 7, rows }), "check", "7 is out of range");
assert.equal(model.depth(1000), 6n);
for (let k = 0; k < 3; k++) fails(() => model.depth(-1), "memory", "the recursion is too deep");
assert.equal(model.depth(1000), 6n);

// Failures, with the messages of the library.
assert.equal(model.careful(1), 2);
fails(() => model.careful(3), "check", "model.lam:");
fails(() => model.careful(3), "check", "index 3 is out of range for size 3");
for (const [x, said] of [[1, "1.0"], [0.1, "0.1"], [1e22, "1e+22"], [5e-324, "5e-324"], [-2.5e-7, "-2.5e-07"], [1 / 3, "0.3333333333333333"], [123456.789, "123456.789"], [Infinity, "inf"], [0.00012, "0.00012"], [100, "1e+02"], [120, "1.2e+02"], [123, "123.0"], [2 ** 70, "1.1805916207174113e+21"], [1.7976931348623157e308, "1.7976931348623157e+308"]]) {
  fails(() => model.small(x), "check", `below ${said}`);
}
wrong(() => model.loss(w, b, flat), TypeError, "loss takes 4 arguments (w, b, x, y), and 3 came");
wrong(() => model.loss([1, 2, 3], b, [[1, 2]], y), RangeError, "`x`: axis 1 has size 2, and d is 3");
wrong(() => model.loss(w, b, [[1, 2], [3]], y), RangeError, "`x` has rows of the shapes [2] and [1]");
wrong(() => model.loss("w", b, flat, y), TypeError, "`w` is an array of 1 axes, not \"w\"");
wrong(() => model.loss([1, "2"], b, flat, y), TypeError, "`w` at 1 is a real, not \"2\"");
wrong(() => model.loss(w, "0.5", flat, y), TypeError, "`b` is a real, not \"0.5\"");
wrong(() => model.careful(0.5), TypeError, "`k` is an int of 64 bits, not number 0.5");
wrong(() => model.careful(2n ** 63n), TypeError, "`k` is an int of 64 bits");
wrong(() => model.area({ Square: [1] }), TypeError, "area: `s` is {Circle: [...]} or another of Circle, Rect");
wrong(() => model.turned({ y: 1 }), TypeError, "turned: `p` is an object with y, x");
model.limit(1000);
fails(() => model.wider(new Float64Array(1e6)), "memory", "more than the limit of 1000 bytes");
model.limit(2 ** 32);
assert.equal(model.wider(new Float64Array(1e6)).length, 1000001);

// The module from elsewhere, and models with memory of their own.
const bytes = readFileSync(new URL("model.wasm", folder));
assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
for (const source of [bytes, new WebAssembly.Module(bytes), new URL("model.wasm", folder), new Response(bytes)]) {
  assert.equal((await load(source)).careful(0), 1);
}
await assert.rejects(load("missing.wasm"), (error) => error instanceof LambadaError && error.kind === "load");
await assert.rejects(load(new Response("", { status: 404 })), (error) => error.kind === "load" && error.message.includes("404"));
assert.match(version, /^\d+\.\d+\.\d+/);
console.log("all is well");
