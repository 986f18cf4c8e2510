import type { X402Config } from "../config/index.ts";
import { MAX_TIMEOUT_SECONDS, networkNamed, type PayNetwork, TOKEN_DECIMALS, UNITS_PER_USD } from "./networks.ts";
import type {
	OfferRequest,
	Offers,
	PaymentRequired,
	PaymentRequiredV1,
	PaymentRequirements,
	Receiver,
	TopUpLimits,
} from "./port.ts";

/** What is offered to wallets, from the configuration alone. */
export class ConfiguredOffers implements Offers {
	readonly limits: TopUpLimits;
	readonly receiver: Receiver;
	readonly chains: readonly string[];
	readonly #networks: readonly PayNetwork[];

	constructor(config: X402Config, payTo: string) {
		this.limits = {
			minimumUsd: config.minimumTopUpUsd,
			suggestedUsd: config.suggestedTopUpUsd,
			maximumUsd: config.maximumTopUpUsd,
		};
		this.#networks = Object.keys(config.networks).map(networkNamed);
		const [first = networkNamed("base")] = this.#networks;
		this.receiver = { payTo, asset: first.asset, decimals: TOKEN_DECIMALS, network: first.id };
		this.chains = this.#networks.map(({ name }) => name);
	}

	v2({ resource, error, amountUsd, extensions }: OfferRequest): PaymentRequired {
		const units = this.#units(amountUsd);
		return {
			x402Version: 2,
			...(error === undefined ? {} : { error }),
			resource,
			accepts: this.#networks.map((network) => requirementsOf(network, this.receiver.payTo, units)),
			...(extensions === undefined ? {} : { extensions }),
		};
	}

	v1({ resource, error = "Payment required", amountUsd }: OfferRequest): PaymentRequiredV1 {
		const units = this.#units(amountUsd);
		const accepts = this.#networks.map((network) => {
			const { amount, ...requirements } = requirementsOf(network, this.receiver.payTo, units);
			const { url, description, mimeType } = resource;
			return { ...requirements, network: network.name, maxAmountRequired: amount, resource: url, description, mimeType };
		});
		return { x402Version: 1, error, accepts };
	}

	#units(amountUsd = this.limits.minimumUsd): number {
		const { minimumUsd, maximumUsd } = this.limits;
		if (!(amountUsd >= minimumUsd && amountUsd <= maximumUsd))
			throw new RangeError(`expected ${minimumUsd} to ${maximumUsd} USD, not ${amountUsd}`);
		return Math.round(amountUsd * UNITS_PER_USD);
	}
}

/** One way to pay: so many base units, or more. */
export function requirementsOf(network: PayNetwork, payTo: string, units: number): PaymentRequirements {
	return {
		scheme: "exact",
		network: network.id,
		amount: String(units),
		asset: network.asset,
		payTo,
		maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
		extra: { name: network.tokenName, version: network.tokenVersion },
	};
}
