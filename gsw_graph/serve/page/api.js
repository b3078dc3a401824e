// The HTTP API of the server. A token is kept as long as the tab and sent nowhere else.
export class Fault extends Error {
  constructor(body, status) {
    super(body.error || `the server answered ${status}`);
    Object.assign(this, { where: body.where, hint: body.hint, status });
  }
}

export function setToken(token) {
  sessionStorage.setItem("gswgraph.token", token.trim());
}

export const tokenSent = () => Boolean(sessionStorage.getItem("gswgraph.token"));

// The memory that the address names, null where it names none: then it is the one that the server was started with.
export const memoryName = () => new URLSearchParams(location.search).get("memory");

async function send(path, options = {}, name = memoryName()) {
  const headers = new Headers(options.headers);
  const token = sessionStorage.getItem("gswgraph.token");
  if (token) headers.set("Authorization", `Bearer ${token.replace(/[^\x21-\x7e]/g, "?")}`); // a header takes ASCII, as every token is
  let answer;
  try {
    const memory = name === null ? "" : `${path.includes("?") ? "&" : "?"}memory=${encodeURIComponent(name)}`;
    answer = await fetch(`/api/${path}${memory}`, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Fault({ error: "the server cannot be reached", hint: "Is `gswgraph serve` still running?" });
  }
  if (!answer.ok) throw new Fault(await answer.json().catch(() => ({})), answer.status);
  return answer;
}

const body = (value) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });

export async function get(path, parameters = {}, name = memoryName()) {
  const query = new URLSearchParams(parameters).toString();
  return (await send(query ? `${path}?${query}` : path, {}, name)).json();
}

export const post = async (path, value) => (await send(path, body(value))).json();

export async function drawn(answer) {
  const options = body({ answer });
  options.headers.Accept = "text/html";
  return (await send("draw", options)).text();
}

// The events of a route, one by one; the data of the last event comes back.
export async function follow(path, value, last, onEvent, signal) {
  const options = value instanceof FormData ? { method: "POST", body: value, headers: {} } : body(value);
  options.headers.Accept = "text/event-stream";
  const answer = await send(path, { ...options, signal });
  for await (const [event, data] of events(answer.body)) {
    if (event === "error") throw new Fault(data, data.status);
    if (event === last) return data;
    onEvent(event, data);
  }
  throw new Fault({ error: "the answer was cut off", hint: "Ask again" });
}

async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const part = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (part("event")) yield [part("event"), JSON.parse(part("data"))];
    }
  }
}
