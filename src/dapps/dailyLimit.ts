/** Highest daily limit of a key: the maximum of an `integer` column in every database. */
export const MAX_DAILY_LIMIT = 2_147_483_647;
