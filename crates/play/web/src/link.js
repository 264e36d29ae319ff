// A link holds a program: its text, the definition, the arguments and the view, packed into the
// fragment of the address, which browsers do not send.

/** The fragment as a map. */
export const fragment = () => new URLSearchParams(location.hash.slice(1));

/** Writes the fragment without a new entry in the history. */
export function writeFragment(map) {
  const text = map.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname);
}

async function through(bytes, stream) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** Packs a state into letters, digits, `-` and `_`. */
export async function packed(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const short = await through(bytes, new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of short) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state in a text; null if it is none. */
export async function unpacked(text) {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const long = await through(bytes, new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(long));
    return typeof state?.text === "string" ? state : null;
  } catch {
    return null;
  }
}
