/** Whether calls with an API key are admitted. Times are Unix milliseconds or ISO 8601. */
export function isUsableKey({
  revokedAt,
  expiresAt,
}: {
  readonly revokedAt: number | string | null;
  readonly expiresAt: number | string | null;
}): boolean {
  return revokedAt === null && (expiresAt === null || new Date(expiresAt).getTime() > Date.now());
}
