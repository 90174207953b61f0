/** A key, as Node's `keypress` events describe it. */
interface Key {
  sequence: string;
  name?: string | undefined;
  ctrl: boolean;
  meta: boolean;
  shift: boolean;
  code?: string;
}
interface Emitter {
  emit(name: string, ...values: unknown[]): boolean;
  on(name: string, listener: (...values: never[]) => void): void;
  off(name: string, listener: (...values: never[]) => void): void;
  listenerCount(name: string): number;
  [DECODER]?: { write(bytes: unknown): string };
}
interface KeypressParts {
  readonly createDecoder: () => { write(bytes: unknown): string };
  readonly setTimeout: (callback: () => void, delayMs: number) => number;
  readonly clearTimeout: (id?: unknown) => void;
}

const DECODER = Symbol("keypress-decoder");

/** Keys by what follows the escape character, without modifiers. */
const NAMES = new Map(
  [
    "f1 OP [11~ [[A [P|f2 OQ [12~ [[B [Q|f3 OR [13~ [[C [R|f4 OS [14~ [[D [S|f5 [15~ [[E|f6 [17~|f7 [18~|f8 [19~|f9 [20~|f10 [21~",
    "f11 [23~|f12 [24~|up [A OA|down [B OB|right [C OC|left [D OD|clear [E OE|end [F OF [4~ [8~|home [H OH [1~ [7~",
    "insert [2~|delete [3~|pageup [5~ [[5~|pagedown [6~ [[6~",
  ]
    .join("|")
    .split("|")
    .flatMap((entry) => {
      const [name, ...codes] = entry.split(" ");
      return codes.map((code) => [code, name] as const);
    }),
);
const SHIFTED = new Map(Object.entries({ a: "up", b: "down", c: "right", d: "left", e: "clear" }));
const PLAIN = new Map(
  Object.entries({
    "\r": "return",
    "\n": "enter",
    "\t": "tab",
    "\b": "backspace",
    "\x7f": "backspace",
    " ": "space",
  }),
);
/** A key: escape characters, and what they introduce or one character. */
const KEY =
  // eslint-disable-next-line no-control-regex
  /(\x1b+)(?:(O)(\d?)([a-zA-Z])|(\[{1,2})(?:\d+(?:;(\d+))?)?(?:;\d+)*([~^$@a-zA-Z]))|\x1b*(?:[^\x1b]|$)/uy;

/** Makes a stream emit `keypress` for what is typed into it, as long as somebody listens. */
export function emitKeypressEvents(stream: Emitter, timeoutMs: number, parts: KeypressParts): void {
  if (stream[DECODER]) return;
  stream[DECODER] = parts.createDecoder();
  let pending = "";
  let timer: number | undefined;
  const emitAll = (text: string): void => {
    KEY.lastIndex = 0;
    for (let match = KEY.exec(text); match !== null && match[0] !== ""; match = KEY.exec(text)) {
      emitKey(stream, match);
      KEY.lastIndex = match.index + match[0].length;
    }
  };
  const onData = (bytes: unknown): void => {
    if (stream.listenerCount("keypress") === 0) {
      stream.off("data", onData);
      stream.on("newListener", onNewListener);
      return;
    }
    const text = pending + (stream[DECODER] as { write(bytes: unknown): string }).write(bytes);
    parts.clearTimeout(timer);
    // What an escape character introduces may still come.
    // eslint-disable-next-line no-control-regex
    pending = /\x1b+(?:O\d?|\[{1,2}[\d;]*)?$/.exec(text)?.[0] ?? "";
    emitAll(text.slice(0, text.length - pending.length));
    if (pending === "") return;
    timer = parts.setTimeout(() => {
      emitAll(pending);
      pending = "";
    }, timeoutMs);
  };
  const onNewListener = (event: string): void => {
    if (event !== "keypress") return;
    stream.on("data", onData);
    stream.off("newListener", onNewListener);
  };
  if (stream.listenerCount("keypress") > 0) stream.on("data", onData);
  else stream.on("newListener", onNewListener);
}

function emitKey(stream: Emitter, match: RegExpExecArray): void {
  const [sequence, escapes, ss3, ss3Modifier, ss3Letter, bracket, modifier, end] = match;
  const key: Key = { sequence, name: undefined, ctrl: false, meta: false, shift: false };
  if (escapes !== undefined && (ss3 ?? bracket) !== undefined) {
    const digits = /\d+/.exec(sequence)?.[0];
    const isTilde = end !== undefined && /[~^$@]/.test(end);
    const bits = Math.max(0, Number((ss3 === undefined ? modifier : ss3Modifier) || 1) - 1);
    key.code = ss3 === undefined ? `${bracket}${isTilde ? (digits ?? "") : ""}${end}` : `O${ss3Letter}`;
    key.ctrl = (bits & 4) !== 0;
    key.meta = (bits & 10) !== 0 || escapes.length > 1;
    key.shift = (bits & 1) !== 0;
    const last = key.code.at(-1) as string;
    if (key.code === "[Z") Object.assign(key, { name: "tab", shift: true });
    else if (SHIFTED.has(last) && key.code.length === 2) {
      key.name = SHIFTED.get(last);
      if (ss3 === undefined) key.shift = true;
      else key.ctrl = true;
    } else if (isTilde && last !== "~") {
      key.name = NAMES.get(`${key.code.slice(0, -1)}~`);
      if (last !== "$") key.ctrl = true;
      if (last !== "^") key.shift = true;
    } else key.name = NAMES.get(key.code) ?? "undefined";
    stream.emit("keypress", undefined, key);
    return;
  }
  // eslint-disable-next-line no-control-regex
  const char = /[^\x1b]$/u.exec(sequence)?.[0] ?? "";
  const isEscaped = sequence.length > char.length;
  key.meta = isEscaped;
  if (PLAIN.has(char)) {
    key.name = PLAIN.get(char);
    if (/[\r\n\t]/.test(char)) key.meta = isEscaped;
  } else if (char === "") {
    key.name = "escape";
    key.meta = sequence.length > 1;
  } else if (!isEscaped && char <= "\x1a") {
    key.name = String.fromCharCode(char.charCodeAt(0) + 96);
    key.ctrl = true;
  } else if (/^[0-9A-Za-z]$/.test(char)) {
    key.name = char.toLowerCase();
    key.shift = /[A-Z]/.test(char);
  } else if (!isEscaped) key.meta = false;
  const hasText = !isEscaped || char === "";
  stream.emit("keypress", hasText ? sequence : undefined, key);
}
