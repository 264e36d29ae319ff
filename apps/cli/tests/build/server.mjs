// Serves the folder of the argument on the loopback for a minute. Prints its address, and after that, again and again, the
// text of the element `found` of the page.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types = { ".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const telling = `<script>
  setInterval(() => fetch("/found", { method: "POST", body: document.getElementById("found").textContent }), 100);
</script>`;
const server = createServer(async (request, response) => {
  if (request.method === "POST") {
    let body = "";
    for await (const part of request) body += part;
    console.log(body);
    return response.end();
  }
  const name = request.url === "/" ? "index.html" : request.url.slice(1);
  const text = name.includes("/") ? null : await readFile(join(process.argv[2], name)).catch(() => null);
  response.writeHead(text ? 200 : 404, { "content-type": types[extname(name)] ?? "text/plain" });
  response.end(name.endsWith(".html") ? text + telling : (text ?? ""));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
setTimeout(() => process.exit(), 60_000);
