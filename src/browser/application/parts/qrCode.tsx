import { correction, generate } from "lean-qr/nano";
import { toSvgPath } from "lean-qr/extras/svg";

/** Light modules around the code, which scanners need. */
const QUIET = 4;

/** A QR code of an address at level M, of which 15 % may be unreadable. */
export function QrCode({ address, label }: { readonly address: string; readonly label: string }) {
  const code = generate(address, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * QUIET;
  return (
    <svg className="qr-code" viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`} role="img" aria-label={label}>
      <path className="light" d={`M${-QUIET} ${-QUIET}h${size}v${size}h-${size}z`} />
      <path d={toSvgPath(code)} />
    </svg>
  );
}
