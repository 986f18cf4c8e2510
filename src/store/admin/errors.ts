const CODES = ["NOT_FOUND", "INVALID", "CONFLICT", "REFERENCE_USED", "MONEY_LEASED"] as const;
export type AdminErrorCode = (typeof CODES)[number];

export function isAdminErrorCode(code: string): code is AdminErrorCode {
	return CODES.some((known) => known === code);
}

/**
 * Thrown for an operation that cannot be done; the message says what would be right. Nothing was changed.
 * REFERENCE_USED: the reference names another movement of money. MONEY_LEASED: the money to be taken back is leased
 * to a node, which may return it.
 */
export class AdminError extends Error {
	override readonly name = "AdminError";
	readonly code: AdminErrorCode;

	constructor(code: AdminErrorCode, message: string) {
		super(message);
		this.code = code;
	}
}
