import { encodeQrCode } from "../../../lib/qrCode.ts";

/** Light modules around the code, which scanners need. */
const QUIET = 4;

/** A QR code of an address; renders nothing for one that is too long. */
export function QrCode({ address, label }: { readonly address: string; readonly label: string }) {
  const rows = encodeQrCode(address);
  if (rows === undefined) return null;
  const size = rows.length + 2 * QUIET;
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])),
  );
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path className="light" d={`M0 0h${size}v${size}h-${size}z`} />
      <path d={dark.join("")} />
    </svg>
  );
}
