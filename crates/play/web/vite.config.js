import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { defineConfig } from "vite";

/** The licenses of the packages in the bundle, which ask to be kept with it. */
const licenses = {
  name: "licenses",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}));
    const names = modules.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
    const texts = [...new Set(names)].filter(Boolean).sort().map((name) => {
      const folder = join(import.meta.dirname, "node_modules", name);
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (!file) throw new Error(`${name} has no license`);
      return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    });
    const source = texts.join(`\n${"-".repeat(72)}\n\n`);
    this.emitFile({ type: "asset", fileName: "licenses.txt", source });
  },
};

// Names without hashes: the command serves exactly these files, and says that they are not to be
// cached.
export default defineConfig({
  base: "./",
  plugins: [licenses],
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", codeSplitting: false },
    },
  },
});
