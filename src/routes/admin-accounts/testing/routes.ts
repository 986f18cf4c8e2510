/** Every route of the operator, with a body that it accepts. */
export const ADMIN_ROUTES = [
	["GET", "", undefined],
	["POST", "", { name: "a" }],
	["GET", "/ID", undefined],
	["PATCH", "/ID", { name: "a" }],
	["POST", "/ID/credits", { amountUsd: "1" }],
	["GET", "/ID/credits", undefined],
	["POST", "/ID/debits", { amountUsd: "1" }],
	["GET", "/ID/debits", undefined],
	["POST", "/ID/refunds", { requestId: "x" }],
	["GET", "/ID/refunds", undefined],
	["POST", "/ID/keys", { apiKeyType: "ADMIN" }],
	["GET", "/ID/keys", undefined],
	["PATCH", "/ID/keys/00000000-0000-4000-8000-000000000000", { description: "d" }],
	["DELETE", "/ID/keys/00000000-0000-4000-8000-000000000000", undefined],
] as const;
