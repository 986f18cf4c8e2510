import type { RpcCatalog, RpcMethod, RpcNetwork, RpcRefusal, RpcVm } from "../../catalog/rpc/types.ts";
import { ApiError, type Issue } from "../../errors/index.ts";
import type { RequestBody } from "./request-body.ts";

const VM_NAMES: Readonly<Record<RpcVm, string>> = { evm: "EVM", starknet: "Starknet", solana: "Solana" };

/**
 * Returns the method of each item.
 * @throws ApiError RPC_METHOD_UNSUPPORTED, whose text has each refused name once, in the order of the request, and
 * whose issues have the reason and the alternative
 */
export function allowedMethods(catalog: RpcCatalog, network: RpcNetwork, envelope: RequestBody): readonly RpcMethod[] {
	const methods: RpcMethod[] = [];
	const refused = new Map<string, Issue>();
	for (const [index, { method: name }] of envelope.items.entries()) {
		const resolved = catalog.resolve(name);
		const refusal = "refusal" in resolved ? resolved.refusal : wrongFamily(resolved.method, network);
		if (refusal === null && "method" in resolved) methods.push(resolved.method);
		else if (refusal !== null && !refused.has(name))
			refused.set(name, {
				path: envelope.batch ? [index, "method"] : ["method"],
				code: refusal.reason,
				message: sentence(name, refusal),
			});
	}
	if (refused.size === 0) return methods;
	throw new ApiError("RPC_METHOD_UNSUPPORTED", {
		message: `Unsupported RPC methods: ${[...refused.keys()].join(", ")}`,
		param: envelope.batch ? `[${[...refused.values()][0]?.path[0]}].method` : "method",
		issues: [...refused.values()],
	});
}

function wrongFamily(method: RpcMethod, network: RpcNetwork): RpcRefusal | null {
	if (method.vm === network.vm) return null;
	return {
		reason: "wrong_family",
		text: `is a method of ${VM_NAMES[method.vm]} networks; ${network.slug} is not one`,
		hint: null,
	};
}

function sentence(name: string, { text, hint }: RpcRefusal): string {
	return `${name} ${text}${hint === null ? "" : `; ${hint}`}`;
}
