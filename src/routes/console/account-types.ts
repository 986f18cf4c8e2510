/** Accounts, their keys and their money, as the console's API sends and accepts them: docs/console-api.md */
import type { Amount, Instant } from "./value-types.ts";

/** GET /accounts, /accounts/{id}; data of POST and PATCH. */
export interface Account {
	readonly id: string;
	readonly name: string;
	readonly tier: "paid" | "partner" | "staff";
	readonly operator: boolean;
	readonly disabled: boolean;
	readonly wallet: string | null;
	readonly createdAt: Instant;
	readonly balanceUsd: Amount;
	readonly bundledUsd: Amount;
	readonly diemToday: Amount;
	readonly stakeDiemToday: Amount;
	readonly stakeDiemNext: Amount | null;
	readonly stakeSource: "operator" | "chain";
}
export interface NewAccount {
	readonly name: string;
	readonly tier?: Account["tier"];
	readonly creditUsd?: string;
}
export interface AccountChanges {
	readonly name?: string;
	readonly tier?: Account["tier"];
	readonly stakeDiem?: string;
	readonly bundledUsd?: string;
	readonly wallet?: string | null;
	readonly disabled?: boolean;
}

/** Data of POST /accounts/{id}/credits and /debits. */
export interface Booked {
	readonly reference: string;
	readonly accountId: string;
	readonly amountUsd: Amount;
	readonly balanceUsd: Amount;
	readonly createdAt: Instant;
}
export type Currency = "USD" | "BUNDLED_CREDITS" | "DIEM";
/** Data of POST /accounts/{id}/refunds. */
export interface Refunded {
	readonly reference: string;
	readonly accountId: string;
	readonly requestId: string;
	readonly amountUsd: Amount;
	readonly parts: readonly { readonly currency: Currency; readonly amount: Amount; readonly balance: Amount }[];
	readonly createdAt: Instant;
}
/** GET /accounts/{id}/credits, /debits, /refunds. */
export interface MoneyEntry {
	readonly reference: string;
	readonly currency: Currency;
	readonly amount: Amount;
	readonly balance: Amount;
	readonly requestId?: string;
	readonly createdAt: Instant;
}

export interface KeyLimits {
	readonly usd: number | null;
	readonly diem: number | null;
	readonly vcu: number | null;
}
export interface KeyRestrictions {
	readonly models: readonly string[] | null;
	readonly endpoints: readonly string[] | null;
	readonly networks: readonly string[] | null;
	readonly addresses: readonly string[] | null;
}
export type LimitPeriod = "EPOCH" | "MONTH" | "LIFETIME";
/** GET /accounts/{id}/keys; data of PATCH /accounts/{id}/keys/{keyId}, without its usage. */
export interface Key {
	readonly id: string;
	readonly apiKeyType: "ADMIN" | "INFERENCE";
	readonly consumptionLimits: KeyLimits;
	readonly limitPeriod: LimitPeriod;
	readonly description: string;
	readonly createdAt: Instant;
	readonly lastUsedAt: Instant | null;
	readonly expiresAt: Instant | null;
	readonly last6Chars: string;
	readonly restrictions?: KeyRestrictions;
}
export interface KeyWithUsage extends Key {
	readonly usage: { readonly trailingSevenDays: { readonly usd: Amount; readonly vcu: Amount; readonly diem: Amount } };
	readonly currentPeriodUsage?: { readonly usd: Amount; readonly diem: Amount };
}
/** GET /keys: of all accounts. */
export interface KeyRow extends Key {
	readonly account: { readonly id: string; readonly name: string };
	readonly state: "active" | "expired" | "revoked";
	readonly trailingSevenDays: { readonly usd: Amount; readonly diem: Amount };
}
export interface KeyFields {
	readonly description?: string;
	readonly consumptionLimit?: Partial<KeyLimits> | null;
	readonly limitPeriod?: LimitPeriod;
	readonly expiresAt?: string | null;
	readonly restrictions?: Partial<KeyRestrictions> | null;
}
export interface NewKey extends KeyFields {
	readonly apiKeyType: Key["apiKeyType"];
}
/** Data of POST /accounts/{id}/keys: the only answer with the secret. */
export interface CreatedKey {
	readonly apiKey: string;
	readonly apiKeyType: Key["apiKeyType"];
	readonly consumptionLimit: KeyLimits;
	readonly limitPeriod: LimitPeriod;
	readonly description: string;
	readonly expiresAt: Instant | null;
	readonly id: string;
	readonly restrictions?: KeyRestrictions;
}
