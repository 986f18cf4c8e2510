import { randomUUID } from "node:crypto";
import { invalidField } from "../../schema/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import type { SecretReader } from "../../store/secret-reader.ts";

/** The token that a wallet signs to get a key. It is valid once, until it expires. */
export interface Challenge {
	readonly id: string;
	readonly expiresAtMs: number;
}

const ALGORITHM = "HS256";
const ISSUER = "turnpike";
const AUDIENCE = "generate_web3_key";
const LIFE_SECONDS = 900;
/** Clocks of nodes may differ by this much. */
const SKEW_SECONDS = 30;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns a new token: a JSON Web Token (RFC 7519) under a secret that all nodes share. */
export async function issueChallenge(secret: SecretReader, nowMs: number): Promise<string> {
	const { sign } = await import("hono/jwt");
	const iat = Math.floor(nowMs / 1000);
	const claims = { iss: ISSUER, aud: AUDIENCE, iat, exp: iat + LIFE_SECONDS, jti: randomUUID() };
	return sign(claims, await secret.read(), ALGORITHM);
}

/**
 * Reads a token of `issueChallenge`.
 * @throws 400 for the first of: malformed, signature, claims, expiry
 */
export async function readChallenge(secret: SecretReader, token: string, nowMs: number): Promise<Challenge> {
	const claims = claimsOf(await verifyToken(secret, token));
	if (claims === null || claims.iat * 1000 > nowMs + SKEW_SECONDS * 1000) throw refusal("claims are invalid");
	if (claims.exp * 1000 <= nowMs) throw refusal("has expired");
	return { id: claims.jti, expiresAtMs: claims.exp * 1000 };
}

/** Returns the error for a token that was used before. */
export function usedChallenge() {
	return refusal("claims are invalid: it has served");
}

async function verifyToken(secret: SecretReader, token: string): Promise<Readonly<Record<string, unknown>>> {
	const { decode, verify } = await import("hono/jwt");
	const key = await secret.read();
	try {
		if (!isRecord(decode(token).payload)) throw new SyntaxError("no object");
		// Times are checked below against this program's clock.
		return await verify(token, key, { alg: ALGORITHM, exp: false, iat: false, nbf: false });
	} catch (error) {
		throw refusal(MISMATCHES.has((error as Error).name) ? "signature is invalid" : "is malformed");
	}
}

const MISMATCHES: ReadonlySet<string> = new Set(["JwtTokenSignatureMismatched", "JwtAlgorithmMismatch"]);

interface Claims {
	readonly iat: number;
	readonly exp: number;
	readonly jti: string;
}

function claimsOf({ iss, aud, iat, exp, jti }: Readonly<Record<string, unknown>>): Claims | null {
	if (iss !== ISSUER || aud !== AUDIENCE || typeof jti !== "string" || !ID.test(jti)) return null;
	if (!Number.isSafeInteger(iat) || exp !== Number(iat) + LIFE_SECONDS) return null;
	return { iat: Number(iat), exp, jti };
}

function refusal(fault: string) {
	return invalidField(["token"], `JWT ${fault}; GET /api_keys/generate_web3_key gives a new one`);
}
