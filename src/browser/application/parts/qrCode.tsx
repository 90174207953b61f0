import { correction, generate } from "lean-qr/nano";
import { toSvgPath } from "lean-qr/extras/svg";

/** Light modules around the code, which scanners need. */
const QUIET = 4;

/** A QR code of the address of a page at level M, of which 15 % may be unreadable, with a line that says so. */
export function QrCode({ address }: { readonly address: string }) {
  const code = generate(address, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * QUIET;
  const { host, hostname } = new URL(address);
  const isHere = /^(?:localhost|127\.[0-9.]+|\[::1\])$/.test(hostname);
  return (
    <figure className="qr">
      <svg
        className="qr-code"
        viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`}
        role="img"
        aria-label="QR code of this page's address"
      >
        <path className="light" d={`M${-QUIET} ${-QUIET}h${size}v${size}h-${size}z`} />
        <path d={toSvgPath(code)} />
      </svg>
      <figcaption>
        Scan to open this page at {host}
        {isHere && ", which only this computer reaches"}
      </figcaption>
    </figure>
  );
}
