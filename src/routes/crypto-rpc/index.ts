/**
 * POST /crypto/rpc/{network} and GET /crypto/rpc/networks: JSON-RPC in and out, byte for byte wherever possible. No
 * refused method reaches an upstream. An item with a result costs its tier, one with an error 5 credits, and a failed
 * call nothing. No transaction is sent twice without need. Parameters are never logged.
 */
import { checkNetworkRule } from "../../access/index.ts";
import { nearestNetwork, type RpcNetwork } from "../../catalog/rpc/index.ts";
import { ApiError } from "../../errors/index.ts";
import { type Endpoint, json, metered, plain } from "../../server/endpoint.ts";
import { admitRpc } from "./admit.ts";
import type { RpcDeps } from "./deps.ts";
import { idempotencyKey } from "./idempotency.ts";
import { NetworksSchema, RpcAnswerSchema, RpcBodySchema } from "./schema.ts";

/** Media types that JSON-RPC over HTTP and older clients use. */
const RPC_MEDIA_TYPES = ["application/json-rpc", "application/jsonrequest"];
const MAX_BODY_BYTES = 5 * 1_048_576;

export function cryptoRpcRoutes(deps: RpcDeps): Endpoint[] {
	return [
		plain({
			method: "GET",
			path: "/crypto/rpc/networks",
			name: "crypto-rpc-networks",
			tag: "Chains",
			summary: "Networks of the chain proxy",
			openAi: false,
			callers: ["none"],
			listLimit: false,
			answer: { type: "application/json", schema: NetworksSchema, description: "The networks, and those that work now" },
			run: () =>
				json({ networks: deps.upstreams.networks(), online: deps.upstreams.online() }, 200, {
					"Cache-Control": "max-age=10",
				}),
		}),
		metered({
			method: "POST",
			path: "/crypto/rpc/:network",
			name: "crypto-rpc",
			tag: "Chains",
			summary: "Call a chain by JSON-RPC",
			description:
				"Takes one JSON-RPC 2.0 request, or an array of up to 100. An item costs the network's base credits times the tier of its method. An item with an error costs 5 credits. With `Idempotency-Key` the answer is stored for 24 hours.",
			openAi: false,
			callers: ["key", "wallet"],
			failureGuard: false,
			idempotencyKey: "optional",
			body: { schema: RpcBodySchema, maxBytes: MAX_BODY_BYTES, mediaTypes: RPC_MEDIA_TYPES, raw: true },
			codes: [
				"RPC_NETWORK_UNSUPPORTED",
				"RPC_METHOD_UNSUPPORTED",
				"RPC_BATCH_INVALID",
				"IDEMPOTENCY_KEY_INVALID",
				"IDEMPOTENCY_KEY_REUSED",
				"IDEMPOTENCY_IN_PROGRESS",
				"RPC_UPSTREAM_FAILED",
				"RPC_NETWORK_OFFLINE",
			],
			answer: {
				type: "application/json",
				schema: RpcAnswerSchema,
				description: "The answer of the chain's node: an object, or an array for a batch",
			},
			checkPath: (params) => void networkOf(params, deps),
			checkRequest(call, params) {
				if (call.caller !== null) checkNetworkRule(call.caller, networkOf(params, deps).slug);
				idempotencyKey(call.request);
			},
			// A repeated request gets the answer that its first one has paid for.
			mayBeFree: ({ request }) => deps.config().rpc.pricePerCreditUsd === 0 || request.headers.has("idempotency-key"),
			mayReplay: ({ request }) => request.headers.has("idempotency-key"),
			admit: (input, call) => admitRpc(input.raw, networkOf(input.params, deps), call, deps),
		}),
	];
}

/**
 * Returns the network of the path.
 * @throws ApiError RPC_NETWORK_UNSUPPORTED if it is unknown or switched off, with the one that is probably meant
 */
function networkOf(params: Readonly<Record<string, string>>, { catalog, upstreams }: RpcDeps): RpcNetwork {
	const slug = params.network ?? "";
	const network = catalog.networks.get(slug) ?? catalog.optionalNetworks.get(slug);
	const offered = upstreams.networks();
	if (network !== undefined && offered.includes(slug)) return network;
	const nearest = network === undefined ? nearestNetwork(slug, catalog, offered) : null;
	const message = "Unsupported RPC network";
	throw new ApiError("RPC_NETWORK_UNSUPPORTED", nearest === null ? {} : { message: `${message}; did you mean ${nearest}?` });
}

export type { RpcDeps } from "./deps.ts";
