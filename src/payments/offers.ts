import type { X402Config } from "../config/index.ts";
import { MAX_TIMEOUT_SECONDS, type PaymentNetwork, paymentNetworks, TOKEN_DECIMALS, UNITS_PER_USD } from "./networks.ts";
import type {
	OfferRequest,
	Offers,
	PaymentRequired,
	PaymentRequiredV1,
	PaymentRequirements,
	Receiver,
	TopUpLimits,
} from "./port.ts";

/** Makes offers to wallets from the configuration alone; on Solana also from the facilitator's last fee payer. */
export class ConfiguredOffers implements Offers {
	readonly limits: TopUpLimits;
	readonly chains: readonly string[];
	readonly #places: readonly PaymentNetwork[];
	readonly #feePayer: () => string | null;

	/** @param feePayer returns the payer of fees on Solana; null while unknown */
	constructor(config: X402Config, feePayer: () => string | null) {
		this.limits = {
			minimumUsd: config.minimumTopUpUsd,
			suggestedUsd: config.suggestedTopUpUsd,
			maximumUsd: config.maximumTopUpUsd,
		};
		this.#places = paymentNetworks(config);
		this.#feePayer = feePayer;
		this.chains = this.#places.map(({ network }) => network.name);
	}

	receiverFor(identity: string): Receiver {
		const kind = identity.startsWith("solana:") ? "solana" : "evm";
		const place = this.#places.find(({ network }) => network.kind === kind) ?? this.#places[0];
		if (place === undefined) throw new RangeError("no receiver is configured");
		const { network, payTo } = place;
		return { payTo, asset: network.asset, decimals: TOKEN_DECIMALS, network: network.id };
	}

	v2({ resource, error, amountUsd, extensions }: OfferRequest): PaymentRequired {
		const units = this.#units(amountUsd);
		return {
			x402Version: 2,
			...(error === undefined ? {} : { error }),
			resource,
			accepts: this.#offered(units).map(({ requirements }) => requirements),
			...(extensions === undefined ? {} : { extensions }),
		};
	}

	v1({ resource, error = "Payment required", amountUsd }: OfferRequest): PaymentRequiredV1 {
		const units = this.#units(amountUsd);
		const accepts = this.#offered(units).map(({ name, requirements: { amount, ...requirements } }) => {
			const { url, description, mimeType } = resource;
			return { ...requirements, network: name, maxAmountRequired: amount, resource: url, description, mimeType };
		});
		return { x402Version: 1, error, accepts };
	}

	/**
	 * Returns the offers. Nobody can sign for Solana without knowing the fee payer: while it is unknown, Solana is left
	 * out if other networks are offered.
	 */
	#offered(units: number): { readonly name: string; readonly requirements: PaymentRequirements }[] {
		const feePayer = this.#places.some(({ network }) => network.kind === "solana") ? this.#feePayer() : null;
		const offeredPlaces = this.#places.filter(({ network }) => network.kind === "evm" || feePayer !== null);
		return (offeredPlaces.length > 0 ? offeredPlaces : this.#places).map((place) => ({
			name: place.network.name,
			requirements: requirementsOf(place, units, feePayer),
		}));
	}

	#units(amountUsd = this.limits.minimumUsd): number {
		const { minimumUsd, maximumUsd } = this.limits;
		if (!(amountUsd >= minimumUsd && amountUsd <= maximumUsd))
			throw new RangeError(`expected ${minimumUsd} to ${maximumUsd} USD, not ${amountUsd}`);
		return Math.round(amountUsd * UNITS_PER_USD);
	}
}

/** Returns one way to pay this many base units, or more. Solana includes `feePayer` once it is known. */
export function requirementsOf({ network, payTo }: PaymentNetwork, units: number, feePayer: string | null): PaymentRequirements {
	return {
		scheme: "exact",
		network: network.id,
		amount: String(units),
		asset: network.asset,
		payTo,
		maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
		extra:
			network.kind === "evm" ? { name: network.tokenName, version: network.tokenVersion } : feePayer === null ? {} : { feePayer },
	};
}
