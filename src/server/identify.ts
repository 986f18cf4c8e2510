import { bareKey, bearerKey, checkRules, keyHash } from "../access/index.ts";
import type { Caller, KeyAbsence } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import type { Call } from "./call.ts";
import { addressList } from "./client-address.ts";
import type { PipelineDeps, PipelineSettings } from "./pipeline-deps.ts";
import type { SignedInWallet, WalletAuth } from "./wallet-auth.ts";

/**
 * Finds the caller: at once if this node knows it, else after a store read. A wallet's signature precedes a key,
 * since clients of other APIs always send a key.
 */
export function identify(call: Call, settings: PipelineSettings, deps: PipelineDeps): Promise<void> | null {
	const { wallets } = deps;
	const { sessionKeyHash } = call;
	if (sessionKeyHash !== undefined) return acceptKey(call, sessionKeyHash, deps);
	if (wallets !== null && call.endpoint.callers.includes("wallet")) {
		const signed = signedIn(call, wallets, deps);
		if (signed !== null) {
			// Checking a signature may need a chain's node; a known wallet needs only a read of the store.
			call.pendingWallet = signed instanceof Promise ? "signing" : "unidentified";
			return acceptSigned(call, signed, settings, deps);
		}
	}
	return identifyKey(call, settings, deps);
}

function signedIn(call: Call, wallets: WalletAuth, deps: PipelineDeps): ReturnType<WalletAuth["signedIn"]> {
	try {
		const signed = wallets.signedIn(call);
		return signed instanceof Promise ? signed.catch((error: unknown) => notSignedIn(call, error, deps)) : signed;
	} catch (error) {
		return notSignedIn(call, error, deps);
	}
}

/**
 * Handles an invalid signature: it counts as a failure of its address, as an unknown key does. An address with too many
 * failures must wait.
 */
function notSignedIn(call: Call, error: unknown, deps: PipelineDeps): never {
	if (error instanceof ApiError && error.code === "X402_INVALID_SIGN_IN" && call.endpoint.failureGuard !== false)
		deps.budgets.checkGuard(call.network);
	throw error;
}

/**
 * Accepts a signed-in wallet. It is synchronous if this node knows the signature and the wallet, so that it waits
 * behind no signature check.
 */
function acceptSigned(
	call: Call,
	signed: SignedInWallet | Promise<SignedInWallet | null>,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<void> | null {
	if (signed instanceof Promise) return acceptWallet(call, signed, settings, deps);
	const caller = deps.budgets.wallet(signed.identity);
	if (caller instanceof Promise) return caller.then((caller) => acceptCaller(call, caller, deps));
	acceptCaller(call, caller, deps);
	return null;
}

function acceptCaller(call: Call, wallet: Caller, deps: PipelineDeps): void {
	accept(call, wallet, deps);
	call.balanceRemaining = wallet.balances().usd;
}

async function acceptWallet(
	call: Call,
	signed: SignedInWallet | Promise<SignedInWallet | null>,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<void> {
	const wallet = await signed;
	if (wallet === null) {
		await identifyKey(call, settings, deps);
		return;
	}
	Object.assign(call.headers, wallet.headers);
	acceptCaller(call, await deps.budgets.wallet(wallet.identity), deps);
}

/**
 * Accepts a wallet that pays with the request itself, or throws the offer to pay. Used for requests without any other
 * credential.
 */
async function acceptPayment(call: Call, wallets: WalletAuth, settings: PipelineSettings, deps: PipelineDeps): Promise<void> {
	// Checking a payment is expensive: an address that failed too often waits, whatever it sends.
	if (call.endpoint.failureGuard !== false) deps.budgets.checkGuard(call.network);
	const paying = await wallets.paying(call);
	if (paying !== null) return acceptWallet(call, Promise.resolve(paying), settings, deps);
	const offer = wallets.offer(call);
	if (offer !== null) throw offer;
	accept(call, null, deps);
}

function identifyKey(call: Call, settings: PipelineSettings, deps: PipelineDeps): Promise<void> | null {
	const { endpoint } = call;
	const { wallets } = deps;
	const key = endpoint.callers.includes("key") ? requestKey(call) : null;
	if (key === null && (endpoint.callers.includes("none") || settings.publicEndpoints.has(endpoint.name))) return null;
	if (key === null && wallets !== null && endpoint.kind === "metered" && endpoint.callers.includes("wallet"))
		return acceptPayment(call, wallets, settings, deps);
	return acceptKey(call, key ? keyHash(key) : null, deps, key === null ? "none" : malformed(call));
}

/** Why no caller is found: no credential, a malformed one, or a key that is unknown, revoked or expired. */
type Unknown = "none" | "no scheme" | "not a key" | KeyAbsence;

const UNKNOWN_TEXTS: Readonly<Record<Unknown, string>> = {
	none: "the request has no key; send Authorization: Bearer <key>",
	"no scheme": 'the Authorization header does not begin with "Bearer "; send Authorization: Bearer <key>',
	"not a key": "the header does not hold one key; send Authorization: Bearer <key>",
	unknown: "no account of this service has this key",
	revoked: "this key was revoked; use another, or make one",
	expired: "this key has expired; use another, or make one",
};

function malformed({ request }: Call): Unknown {
	const header = request.headers.get("authorization");
	return header !== null && !/^bearer /i.test(header) ? "no scheme" : "not a key";
}

/**
 * Accepts the caller of a key hash.
 * @param absent why there is no hash
 */
function acceptKey(call: Call, hash: string | null, deps: PipelineDeps, absent: Unknown = "none"): Promise<void> | null {
	if (hash === null) {
		accept(call, null, deps, absent);
		return null;
	}
	const take = (caller: Caller | null) => accept(call, caller, deps, caller === null ? deps.budgets.absence(hash) : undefined);
	const caller = deps.budgets.caller(hash);
	if (caller instanceof Promise) return caller.then(take);
	take(caller);
	return null;
}

/** Returns the key of the Authorization header, else of the header that Anthropic's clients send on any route. */
function requestKey({ request }: Call): string | null | undefined {
	const key = bearerKey(request.headers.get("authorization"));
	return key === null ? bareKey(request.headers.get("x-api-key")) : key;
}

function accept(call: Call, caller: Caller | null, deps: PipelineDeps, reason: Unknown = "none"): void {
	const guarded = call.endpoint.failureGuard !== false;
	if (caller === null) {
		if (guarded) deps.budgets.checkGuard(call.network);
		throw new ApiError("AUTHENTICATION_FAILED", { message: `Authentication failed: ${UNKNOWN_TEXTS[reason]}` });
	}
	call.caller = caller;
	if (guarded) deps.budgets.checkGuard(`key:${caller.key.id}`);
	if (caller.wallet !== null) return;
	const balances = caller.balances();
	call.balanceUsd = balances.usd;
	call.balanceDiem = balances.diem;
}

/** Checks what the caller may do: account, key type, endpoint and address rules. Throws. */
export function checkCaller(call: Call, caller: Caller): void {
	checkRules(caller, {
		endpoint: call.endpoint.name,
		right: call.endpoint.right,
		address: () => call.address,
		inList: (address, list) => addressList(list).has(address),
	});
}
