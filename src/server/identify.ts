import { bareKey, bearerKey, checkRules, keyHash } from "../access/index.ts";
import type { Caller } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import type { Call } from "./call.ts";
import { addressList } from "./client-address.ts";
import type { PipelineDeps, PipelineSettings } from "./pipeline-deps.ts";
import type { SignedInWallet, WalletAuth } from "./wallet-auth.ts";

/**
 * Finds the caller: at once where it is known on this node, else after a store read. Where a wallet may call, its
 * signature comes before a key (clients of other APIs always send one).
 */
export function identify(call: Call, settings: PipelineSettings, deps: PipelineDeps): Promise<void> | null {
	const { wallets } = deps;
	const { sessionKeyHash } = call;
	if (sessionKeyHash !== undefined) return acceptKey(call, sessionKeyHash, deps);
	if (wallets !== null && call.endpoint.callers.includes("wallet")) {
		const signed = signedIn(call, wallets, deps);
		if (signed !== null) {
			// A signature may wait for a chain's node; the accounts of a known one are a read of the store.
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

/** A signature that is none is a failure of its address, as an unknown key is: one that failed too often is told to wait. */
function notSignedIn(call: Call, error: unknown, deps: PipelineDeps): never {
	if (error instanceof ApiError && error.code === "X402_INVALID_SIGN_IN" && call.endpoint.failureGuard !== false)
		deps.budgets.checkGuard(call.network);
	throw error;
}

/** At once where this node knows the signature and the wallet: such a wallet waits behind nobody whose signature is checked. */
function acceptSigned(
	call: Call,
	signed: SignedInWallet | Promise<SignedInWallet | null>,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<void> | null {
	if (signed instanceof Promise) return acceptWallet(call, signed, settings, deps);
	const caller = deps.budgets.wallet(signed.identity);
	if (caller instanceof Promise) return caller.then((found) => acceptCaller(call, found, deps));
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

/** A wallet that pays with the request itself, or what tells it how to; for requests without any other credential. */
async function acceptPayment(call: Call, wallets: WalletAuth, settings: PipelineSettings, deps: PipelineDeps): Promise<void> {
	// A payment is dear to look at: an address that failed too often waits, whatever it brings.
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

/** Why nobody is found: no credential, one that is no key by its form, a key that no account has, or one whose time is over. */
type Unknown = "none" | "no scheme" | "not a key" | "unknown" | "expired";

const UNKNOWN_TEXTS: Readonly<Record<Unknown, string>> = {
	none: "the request has no key; send Authorization: Bearer <key>",
	"no scheme": 'the Authorization header does not begin with "Bearer "; send Authorization: Bearer <key>',
	"not a key": "the header does not hold one key; send Authorization: Bearer <key>",
	unknown: "no account of this service has this key, or it was deleted",
	expired: "this key has expired; use another, or make one",
};

function malformed({ request }: Call): Unknown {
	const header = request.headers.get("authorization");
	return header !== null && !/^bearer /i.test(header) ? "no scheme" : "not a key";
}

/** @param absent what is wrong where there is no key to look for */
function acceptKey(call: Call, hash: string | null, deps: PipelineDeps, absent: Unknown = "none"): Promise<void> | null {
	if (hash === null) {
		accept(call, null, deps, absent);
		return null;
	}
	const take = (caller: Caller | null) =>
		accept(call, caller, deps, caller === null && deps.budgets.isExpired(hash) ? "expired" : "unknown");
	const found = deps.budgets.caller(hash);
	if (found instanceof Promise) return found.then(take);
	take(found);
	return null;
}

/** The key of the Authorization header, else of the one that Anthropic's clients send, which call other routes too. */
function requestKey({ request }: Call): string | null | undefined {
	const key = bearerKey(request.headers.get("authorization"));
	return key === null ? bareKey(request.headers.get("x-api-key")) : key;
}

function accept(call: Call, caller: Caller | null, deps: PipelineDeps, why: Unknown = "none"): void {
	const guarded = call.endpoint.failureGuard !== false;
	if (caller === null) {
		if (guarded) deps.budgets.checkGuard(call.network);
		throw new ApiError("AUTHENTICATION_FAILED", { message: `Authentication failed: ${UNKNOWN_TEXTS[why]}` });
	}
	call.caller = caller;
	if (guarded) deps.budgets.checkGuard(`key:${caller.key.id}`);
	if (caller.wallet !== null) return;
	const balances = caller.balances();
	call.balanceUsd = balances.usd;
	call.balanceDiem = balances.diem;
}

/** What the caller may do at all: account, key type, endpoint and address rules. Throws. */
export function checkCaller(call: Call, caller: Caller): void {
	checkRules(caller, {
		endpoint: call.endpoint.name,
		right: call.endpoint.right,
		address: () => call.address,
		inList: (address, list) => addressList(list).has(address),
	});
}
