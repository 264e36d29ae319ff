// The server of the page: requests with the token of this run, and the stream of the language
// server.

const KEY = "lambada-play-token";

let token = null;

/** Takes the token out of the fragment, or finds the one of an earlier visit. */
export function takeToken(fragment) {
  const given = fragment.get("token");
  if (given) {
    localStorage.setItem(KEY, given);
    fragment.delete("token");
  }
  token = given ?? localStorage.getItem(KEY);
}

/** An error that the reader of the page can understand. */
export class Refused extends Error {}

async function send(path, options = {}) {
  const headers = { Authorization: `Bearer ${token ?? ""}` };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer: `lambada play` has ended.");
  }
  if (!response.ok) throw new Refused(await response.text());
  return response;
}

const post = async (path, body) =>
  (await send(path, { method: "POST", body: JSON.stringify(body) })).json();

/** The programs to open, and the pages of the book. */
export const shelf = async () => (await send("/api/shelf")).json();

/** The text of a program. */
export const open = async (place) => (await post("/api/open", place)).text;

// Lanes of this page: a newer job ends an older one in its lane.
const page = crypto.randomUUID();
let number = 0;

/** Does a job; the answer has one member, which says what it is. */
export async function job(lane, program, task) {
  const answer = await post("/api/job", { lane: `${page} ${lane}`, number: ++number, ...program, task });
  return typeof answer === "string" ? { [answer]: true } : answer;
}

/**
 * Connects with a language server: `begin` gets a transport for each connection, `ended` is called
 * at its end.
 */
export async function connect(begin, ended) {
  let session = null;
  const handlers = new Set();
  const waiting = [];
  let sending = false;
  const flush = async () => {
    if (sending || session === null) return;
    sending = true;
    // One request at a time keeps the order of messages.
    while (waiting.length > 0) {
      const messages = waiting.splice(0);
      try {
        await post("/api/editor", { session, messages });
      } catch {
        break; // The end of the stream reports it.
      }
    }
    sending = false;
  };
  const transport = {
    send(message) {
      waiting.push(JSON.parse(message));
      flush();
    },
    subscribe: (handler) => handlers.add(handler),
    unsubscribe: (handler) => handlers.delete(handler),
  };
  try {
    const response = await send("/api/editor");
    for await (const { event, data } of events(response.body)) {
      if (event === "session") {
        session = Number(data);
        begin(transport);
        flush();
      } else if (event === "message") {
        for (const handler of handlers) handler(data);
      } else if (event === "end") {
        break;
      }
    }
  } catch (error) {
    ended(error);
    return;
  }
  ended(null);
}

/** The events of a stream. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
      }
      text = text.slice(end + 2);
      if (fields.event) yield { data: "", ...fields };
    }
  }
}
