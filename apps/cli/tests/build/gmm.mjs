// Prints value and gradient of a model by the module in the folder of the first argument, of the data in the second.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { load } = await import(new URL("gmm.mjs", pathToFileURL(`${process.argv[2]}/`)));
const { alpha, mu, q, l, x, gamma, m } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const gmm = await load();
const [value, gradient] = gmm.objective_grad(alpha, mu, q, l, x, gamma, m);
const flat = [value, ...gradient.alpha, ...gradient.mu.data, ...gradient.q.data, ...gradient.l.data];
console.log(JSON.stringify(flat));
