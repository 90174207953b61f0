import { Fragment } from "react";
import { Link } from "wouter";
import type { DecodedValue, Party } from "../../../client/index.ts";
import { cut } from "../../../lib/cut.ts";
import { Code, count, PartyLink, ShortHex, units } from "./format.tsx";
import { Folded, Listing, RawBytes, UnknownText } from "./parts.tsx";

/** What is known besides of the requests that values are about. */
export interface KnownResults {
  /** Results in one line as their requests' types, by request id. */
  readonly results?: ReadonlyMap<string, string> | undefined;
  /** The request that values are about, unless one of them is its id. */
  readonly requestId?: string | undefined;
}

/** Arguments or fields as a table of name, type and value; structs and arrays are nested tables, and what bytes hold stands above them. */
export function ValueTable({
  values,
  network,
  results,
  requestId: outer,
}: KnownResults & {
  readonly values: readonly DecodedValue[];
  readonly network: string;
}) {
  const own = values.find(({ name }) => REQUEST_ID.test(name))?.value;
  const requestId = typeof own === "string" ? asWord(own) : outer;
  const known = { network, requestId, ...(results && { results }) };
  const result = requestId === undefined ? undefined : results?.get(requestId);
  if (values.length === 0) return <p className="note">None.</p>;
  return (
    <table className="values">
      <tbody>
        {values.map((one, i) => (
          <tr key={i}>
            <th scope="row">
              {one.name === "" ? i : <UnknownText text={one.name} />} <small>{one.type}</small>
            </th>
            <td>
              {typeof one.value !== "string" ? (
                <ValueTable values={one.value} {...known} />
              ) : one.name === "result" && result !== undefined ? (
                <UnknownText text={result} />
              ) : (
                <>
                  {one.holds !== undefined && <ValueTable values={one.holds} {...known} />}
                  <Whole {...one} value={one.value} network={network} />
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Fields in as few lines as they take, each with its name: long values are shortened, and lists after their first entries. */
export function ValueLines({
  values,
  network,
}: {
  readonly values: readonly DecodedValue[];
  readonly network: string;
}) {
  return (
    <dl className="value-lines">
      {values.map((one, i) => (
        <div key={i}>
          <dt>{one.name === "" ? i : <UnknownText text={one.name} />}</dt>{" "}
          <dd>
            <Brief value={one} network={network} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A byte sequence that is a text, as errors are. */
const TEXT = /^[\P{C}\s]+$/u;

/** Returns the text that bytes are, in hex that may have been cut; `undefined` if they are something else. */
function textOf(hex: string): string | undefined {
  try {
    const digits = hex.slice(2).match(/[0-9a-f]{2}/g) ?? [];
    const bytes = Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut(hex) });
    return TEXT.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isCut(value: string): boolean {
  return value.endsWith("…");
}

/** A decoded value that holds no others. */
interface Leaf extends DecodedValue {
  readonly value: string;
}

/** Longer texts are folded, in UTF-16 code units. */
const LONG_TEXT = 200;

/** A value as it is; long texts and bytes are folded, and so are bytes of which it is known what they hold. */
function Whole({ network, ...leaf }: Leaf & { readonly network: string }) {
  const { type, value } = leaf;
  if (type === "address") return <PartyLink network={network} party={partyOf(leaf)} full />;
  if (type === "string")
    return value.length <= LONG_TEXT ? (
      <UnknownText text={value} />
    ) : (
      <Folded summary={count(value.length, "character")}>
        <Listing text={value} label={leaf.name} />
      </Folded>
    );
  if (leaf.isJuels === true)
    return (
      <>
        <Code text={value} /> <span className="note">{units(value, "LINK")}</span>
      </>
    );
  const isRaw = leaf.holds !== undefined && type.startsWith("bytes");
  const text = type === "bytes" && !isRaw ? textOf(value) : undefined;
  if (text !== undefined && value.length <= 200)
    return (
      <>
        <Code text={value} />{" "}
        <span className="note">
          as text: <UnknownText text={text} />
        </span>
      </>
    );
  if (!isRaw && value.length <= 200) return <Code text={value} />;
  return (
    <Folded summary={count((value.length - 2) / 2, "byte")}>
      <RawBytes hex={value} label={`${type} value`} />
    </Folded>
  );
}

/** Entries of a list that a line has. */
const BRIEF_ENTRIES = 3;
/** Longest text in a line, in UTF-16 code units, and digits of a number. */
const BRIEF_TEXT = 60;
const BRIEF_DIGITS = 18;
/** Names of ids of requests in the contracts' events. */
const REQUEST_ID = /^(?:vrfR|r)equestId$/;

/** A value in a few characters, with a link where there is something to see. It may have been cut before, and ends with `…` then. */
function Brief({ value: one, network }: { readonly value: DecodedValue; readonly network: string }) {
  const { name, type, value, holds } = one;
  if (holds !== undefined) return <Brief value={{ name, type: "", value: holds }} network={network} />;
  if (typeof value !== "string")
    return (
      <>
        {value.slice(0, BRIEF_ENTRIES).map((entry, i) => (
          <Fragment key={i}>
            {i > 0 && ", "}
            <Brief value={entry} network={network} />
          </Fragment>
        ))}
        {value.length === 0 ? "none" : value.length > BRIEF_ENTRIES && ", …"}
      </>
    );
  if (type === "address") return <PartyLink network={network} party={partyOf({ ...one, value })} />;
  if (REQUEST_ID.test(name) && /^(?:bytes32|uint256)$/.test(type)) {
    const id = asWord(value);
    return (
      <Link href={`/explorer/search?${new URLSearchParams({ q: id, network }).toString()}`}>
        <ShortHex text={id} />
      </Link>
    );
  }
  if (one.isJuels === true) return units(value, "LINK");
  if (type === "string") return <UnknownText text={cut(value, BRIEF_TEXT)} />;
  if (type.startsWith("bytes")) {
    if (value === "0x") return "empty";
    const text = type === "bytes" ? textOf(value) : undefined;
    if (text !== undefined) return <UnknownText text={cut(text, BRIEF_TEXT)} />;
    return isCut(value) ? <code>{cut(value, BRIEF_DIGITS)}</code> : <ShortHex text={value} />;
  }
  return value.length > BRIEF_DIGITS ? <ShortHex text={value} /> : value;
}

/** Returns a number, or bytes that are one, as 32 bytes of hex. */
function asWord(value: string): string {
  return `0x${BigInt(value).toString(16).padStart(64, "0")}`;
}

function partyOf({ value, knownAs }: Leaf): Party {
  return { address: value as `0x${string}`, ...(knownAs === undefined ? {} : { name: knownAs }) };
}
