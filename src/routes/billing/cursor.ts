/**
 * Encrypts where the next page of a statement begins. A caller can neither read nor change it, and another account's
 * cursor is as invalid as an invented one (AES-256-GCM with the account in the authenticated data).
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { StatementEntry } from "../../budgets/index.ts";
import { invalidField } from "../../schema/index.ts";

export interface CursorContent {
	readonly currency: StatementEntry["source"] | null;
	/** Set only in lists that may go backwards. */
	readonly fromMs?: number | null;
	readonly order?: "asc" | "desc";
	readonly toMs: number | null;
	readonly pageSize: number;
	/** Number of the last entry returned. */
	readonly after: number;
}

interface Sealed extends CursorContent {
	readonly expiresAtMs: number;
}

const LIFE_MS = 24 * 3_600_000;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Returns a cursor of at most 512 characters of A-Z a-z 0-9 _ -.
 * @param secret 64 hex digits
 */
export function sealCursor(content: CursorContent, accountId: string, secret: string, nowMs: number): string {
	const nonce = randomBytes(NONCE_BYTES);
	const cipher = createCipheriv(CIPHER, Buffer.from(secret, "hex"), nonce);
	cipher.setAAD(additionalData(accountId));
	const sealed: Sealed = { ...content, expiresAtMs: nowMs + LIFE_MS };
	const text = Buffer.concat([cipher.update(JSON.stringify(sealed), "utf8"), cipher.final()]);
	return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url");
}

/**
 * Decrypts a cursor.
 * @throws ApiError 400 where it is altered, of another account, or older than 24 hours
 */
export function openCursor(cursor: string, accountId: string, secret: string, nowMs: number): CursorContent {
	const bytes = Buffer.from(cursor, "base64url");
	const content = bytes.toString("base64url") === cursor ? unseal(bytes, accountId, secret) : null;
	if (content === null) throw invalidField(["cursor"], "is not a cursor of this account; begin again without one");
	if (content.expiresAtMs <= nowMs) throw invalidField(["cursor"], "has expired after 24 hours; begin again without one");
	return content;
}

function unseal(bytes: Buffer, accountId: string, secret: string): Sealed | null {
	if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
	const decipher = createDecipheriv(CIPHER, Buffer.from(secret, "hex"), bytes.subarray(0, NONCE_BYTES));
	decipher.setAAD(additionalData(accountId));
	decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
	try {
		const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
		return JSON.parse(text.toString("utf8")) as Sealed;
	} catch {
		return null;
	}
}

function additionalData(accountId: string): Buffer {
	return Buffer.from(`usage-history of ${accountId}`, "utf8");
}
