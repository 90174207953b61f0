import { type Message, stop, transform, type TransformOptions } from "esbuild";
import type { LinkedSource } from "./linkSource.ts";
import { describeOpenEnd, SourceSyntaxError } from "./sourceSyntaxError.ts";

/**
 * Longest time for one source: thousands of times what an honest one takes, and enough to start esbuild's process on a busy machine, where
 * two seconds were not enough.
 */
const MINIFY_TIMEOUT_MS = 20_000;

const OPENING = "async function source(){";
const CLOSING = "}\n";

const OPTIONS: TransformOptions = {
  loader: "js",
  minify: true,
  target: "esnext",
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
};

/**
 * Minifies a source, which is the body of an async function, together with its imports: without comments, blanks and long local names.
 * Every byte of a source costs about 21 gas in every request: minifying saves 25,000 for `range`, whose requests take 500,000 alone and
 * 200,000 in a batch. The same text gives the same bytes with the same version of esbuild, which package.json pins. esbuild parses in a
 * process of its own and runs nothing; if a source hangs that process, it is stopped.
 * Throws {@link SourceSyntaxError} with the place in the source.
 */
export async function minifySource(source: LinkedSource): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new SourceSyntaxError(`parsing took longer than ${MINIFY_TIMEOUT_MS} ms`));
      void stop();
    }, MINIFY_TIMEOUT_MS);
  });
  try {
    return await Promise.race([minify(source), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

async function minify({ text: source, preludeLines }: LinkedSource): Promise<string> {
  const { code } = await transform(`${OPENING}\n${source}\n}`, OPTIONS).catch((error: unknown) => {
    const own = source.split("\n").slice(preludeLines).join("\n");
    throw describeFailure(error, own, preludeLines + 1);
  });
  const body = code.slice(OPENING.length, -CLOSING.length);
  // A source such as `} function more() {` closes the function too early. What esbuild prints after it then starts with a keyword or a
  // brace, or has a semicolon: none of these can follow a function inside parentheses.
  const isOneFunction =
    code.startsWith(OPENING) &&
    code.endsWith(CLOSING) &&
    (await transform(`(async function(){${body}})`, OPTIONS).then(
      () => true,
      () => false,
    ));
  if (!isOneFunction)
    throw new SourceSyntaxError("must be the body of an async function and nothing after it");
  return body;
}

/** @param linesBefore lines before the author's text, of which the last one opens the function. */
function describeFailure(error: unknown, source: string, linesBefore: number): SourceSyntaxError {
  const first = (error as { readonly errors?: readonly Message[] }).errors?.[0];
  if (first === undefined) return new SourceSyntaxError("can't be parsed", { cause: error });
  if (first.location === null) return new SourceSyntaxError(first.text, { cause: error });
  const { column, lineText } = first.location;
  const line = first.location.line - linesBefore;
  if (line > source.trimEnd().split("\n").length) return describeOpenEnd(source, error);
  // esbuild counts lines from 1 and columns from 0, in bytes.
  return new SourceSyntaxError(first.text, {
    line,
    column: Buffer.from(lineText).subarray(0, column).toString().length + 1,
    cause: error,
  });
}
