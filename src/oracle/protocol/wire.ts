import type { Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import type { ReportSigner } from "../signer.ts";
import { ByteReader, MalformedMessageError, uintBytes } from "./byteReader.ts";
import type { Endorsement, Evidence, Message, Proposal, Reveal, Sealed } from "./message.ts";
import { recoverAddress } from "./recoverAddress.ts";

/** Longest message, in bytes: evidence of two proposals with 21 reveals of the longest result each is about 60,000. */
export const MAX_MESSAGE_BYTES = 131_072;
/** Longest observation, in bytes; networks allow 256 to 1,024. */
const MAX_OBSERVATION_BYTES = 4_096;
const VERSION = 1;
const HEADER_BYTES = 95;
/** Header bytes after version and kind that all messages of one configuration share: chain id, coordinator, configuration digest. */
const CONFIGURATION_BYTES = 60;
const SIGNATURE_BYTES = 65;
/** Length prefix of each message in a body. */
const LENGTH_BYTES = 4;
const KINDS = ["commit", "reveal", "proposal", "endorsement", "evidence"] as const;
/** Kinds that evidence may consist of: evidence of evidence proves nothing. */
const PROVING = KINDS.slice(0, 4);
const MESSAGE_TAG = keccak256(new TextEncoder().encode("tyche oracle message"));
const COMMITMENT_TAG = keccak256(new TextEncoder().encode("tyche oracle commitment"));

/** The configuration that messages belong to. */
export interface WireOptions {
  readonly chainId: number;
  readonly coordinator: Hex;
  /** `latestConfigDetails().configDigest` of the coordinator. */
  readonly configDigest: Hex;
  /** Report keys of all nodes, in the configuration's order. */
  readonly signers: readonly Hex[];
}

/** A message that was read. */
export interface Received {
  readonly requestId: Hex;
  readonly sealed: Sealed;
}

/** Looks up a previously checked message by its bytes. */
export type Recall = (bytes: Uint8Array) => Received | undefined;

/** Encodes, signs, decodes and checks the messages of one configuration, as laid out in PROTOCOL.md. */
export interface Wire {
  seal<Of extends Message>(requestId: Hex, message: Of, signer: ReportSigner): Sealed<Of>;
  /**
   * Reads a message and checks the signatures in it, the outermost first.
   *
   * @param recall looks up messages that were checked before; nested messages it finds are not checked again. Default: finds nothing.
   * @throws MalformedMessageError for anything that is not a message of this configuration.
   */
  open(bytes: Uint8Array, recall?: Recall): Received;
  commitmentOf(requestId: Hex, reveal: Reveal): Hex;
}

/** What is known of a message before its body is read. */
interface Place {
  readonly kind: Message["kind"];
  readonly sender: number;
  readonly requestId: Hex;
  readonly recall: Recall;
}

/** Creates the wire format of a configuration. */
export function createWire({ chainId, coordinator, configDigest, signers }: WireOptions): Wire {
  const configuration = Buffer.concat([
    uintBytes(chainId, 8),
    fromHexText(coordinator),
    fromHexText(configDigest),
  ]);
  const addresses = signers.map((address) => address.toLowerCase());

  function open(bytes: Uint8Array, recall: Recall = () => undefined): Received {
    if (bytes.length > MAX_MESSAGE_BYTES) throw new MalformedMessageError("it is too long");
    const reader = new ByteReader(bytes);
    const version = reader.uint(1);
    const kind = KINDS[reader.uint(1) - 1];
    if (version !== VERSION || kind === undefined)
      throw new MalformedMessageError("its version or kind is unknown");
    if (Buffer.compare(reader.bytes(CONFIGURATION_BYTES), configuration) !== 0)
      throw new MalformedMessageError("it is for another chain, coordinator or configuration");
    const requestId = toHexText(reader.bytes(32));
    const sender = reader.uint(1);
    if (sender >= addresses.length) throw new MalformedMessageError("its sender is unknown");
    const body = new ByteReader(reader.bytes(bytes.length - HEADER_BYTES - SIGNATURE_BYTES));
    const digest = digestOf(bytes.subarray(0, bytes.length - SIGNATURE_BYTES));
    if (recoverAddress(digest, reader.bytes(SIGNATURE_BYTES)) !== addresses[sender])
      throw new MalformedMessageError("its signature is not its sender's");
    const message = readBody(body, { kind, sender, requestId, recall });
    body.end();
    return { requestId, sealed: { message, bytes } };
  }

  /** Checks the kind first: messages nested deeper than allowed would take hundreds of signature checks. */
  function openNested(
    bytes: Uint8Array,
    {
      requestId,
      kinds,
      recall,
    }: Pick<Place, "requestId" | "recall"> & { readonly kinds: readonly Message["kind"][] },
  ): Sealed {
    if (!kinds.some((kind) => bytes[1] === 1 + KINDS.indexOf(kind)))
      throw new MalformedMessageError("it holds a message of a kind that has no place there");
    const received = recall(bytes) ?? open(bytes, recall);
    if (received.requestId !== requestId)
      throw new MalformedMessageError("it holds a message of another request");
    return received.sealed;
  }

  function readBody(body: ByteReader, { kind, sender, requestId, recall }: Place): Message {
    switch (kind) {
      case "commit":
        return { kind, sender, commitment: toHexText(body.bytes(32)) };
      case "reveal":
        return {
          kind,
          sender,
          salt: toHexText(body.bytes(32)),
          observation: { ok: body.flag(), bytes: body.rest(MAX_OBSERVATION_BYTES) },
        };
      case "endorsement":
        return readEndorsement(sender, body);
      case "proposal": {
        const rank = body.uint(1);
        const reveals: Sealed<Reveal>[] = [];
        while (!body.isAtEnd && reveals.length < addresses.length) {
          const nested = body.bytes(body.uint(2));
          reveals.push(openNested(nested, { requestId, kinds: ["reveal"], recall }) as Sealed<Reveal>);
        }
        return { kind, sender, rank, reveals };
      }
      case "evidence": {
        const first = openNested(body.bytes(body.uint(3)), { requestId, kinds: PROVING, recall });
        const second = openNested(body.rest(MAX_MESSAGE_BYTES), { requestId, kinds: PROVING, recall });
        return { kind, sender, first, second };
      }
    }
  }

  function readEndorsement(sender: number, body: ByteReader): Endorsement {
    const rank = body.uint(1);
    const digest = body.bytes(32);
    const signature = body.bytes(SIGNATURE_BYTES);
    if (recoverAddress(digest, signature) !== addresses[sender])
      throw new MalformedMessageError("the report in it is signed by somebody else");
    return { kind: "endorsement", sender, rank, digest: toHexText(digest), signature: toHexText(signature) };
  }

  return {
    open,
    seal(requestId, message, signer) {
      const kind = 1 + KINDS.indexOf(message.kind);
      const signed = Buffer.concat([
        Uint8Array.of(VERSION, kind),
        configuration,
        fromHexText(requestId),
        Uint8Array.of(message.sender),
        bodyOf(message),
      ]);
      return { message, bytes: Buffer.concat([signed, joinSignature(signer.sign(digestOf(signed)))]) };
    },
    commitmentOf(requestId, { sender, salt, observation: { ok, bytes } }) {
      const parts = [
        COMMITMENT_TAG,
        configuration.subarray(8, 28),
        fromHexText(requestId),
        Uint8Array.of(sender),
        fromHexText(salt),
        Uint8Array.of(Number(ok)),
        bytes,
      ];
      return toHexText(keccak256(Buffer.concat(parts)));
    },
  };
}

/** Joins a recoverable signature into 65 bytes: r ‖ s ‖ recovery id. */
export function joinSignature({ r, s, recoveryId }: ReturnType<ReportSigner["sign"]>): Uint8Array {
  return Buffer.concat([r, s, Uint8Array.of(recoveryId)]);
}

/**
 * Reads which configuration the first message of a body is for, without reading anything else; `undefined` if it is too short. Never
 * throws.
 */
export function peekAddressee(
  body: Uint8Array,
): { readonly chainId: bigint; readonly coordinator: Hex; readonly configDigest: Hex } | undefined {
  if (body.length < LENGTH_BYTES + HEADER_BYTES) return undefined;
  const reader = new ByteReader(body.subarray(LENGTH_BYTES + 2));
  return {
    chainId: BigInt(toHexText(reader.bytes(8))),
    coordinator: toHexText(reader.bytes(20)),
    configDigest: toHexText(reader.bytes(32)),
  };
}

/** Reads which request a message is about, without reading anything else; `undefined` if it is too short. Never throws. */
export function peekRequestId(message: Uint8Array): Hex | undefined {
  return message.length < HEADER_BYTES
    ? undefined
    : toHexText(message.subarray(HEADER_BYTES - 33, HEADER_BYTES - 1));
}

/** Reads which node a message claims to be from, without reading anything else; `undefined` if it is too short. Never throws. */
export function peekSender(message: Uint8Array): number | undefined {
  return message.length < HEADER_BYTES ? undefined : message[HEADER_BYTES - 1];
}

function digestOf(signed: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([MESSAGE_TAG, signed]));
}

function bodyOf(message: Message): Uint8Array {
  switch (message.kind) {
    case "commit":
      return fromHexText(message.commitment);
    case "reveal":
      return Buffer.concat([
        fromHexText(message.salt),
        Uint8Array.of(Number(message.observation.ok)),
        message.observation.bytes,
      ]);
    case "endorsement":
      return Buffer.concat([
        Uint8Array.of(message.rank),
        fromHexText(message.digest),
        fromHexText(message.signature),
      ]);
    case "proposal":
      return proposalBody(message);
    case "evidence":
      return evidenceBody(message);
  }
}

function proposalBody({ rank, reveals }: Proposal): Uint8Array {
  return Buffer.concat([
    Uint8Array.of(rank),
    ...reveals.flatMap(({ bytes }) => [uintBytes(bytes.length, 2), bytes]),
  ]);
}

function evidenceBody({ first, second }: Evidence): Uint8Array {
  return Buffer.concat([uintBytes(first.bytes.length, 3), first.bytes, second.bytes]);
}
