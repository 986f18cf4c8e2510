import type { Hex } from "viem";
import type { Chain } from "./chain.ts";
import { ChainRefusedError } from "./chain-errors.ts";
import { recoverSigner } from "./recover-signer.ts";

export interface WalletSignature {
	/** Lower case. */
	readonly wallet: string;
	/** The signed text (https://eips.ethereum.org/EIPS/eip-191, version 0x45). */
	readonly message: string;
	/** Hex as the wallet sent it. */
	readonly signature: string;
	/** The chain of contract wallets; null: only wallets with their own key can sign. */
	readonly chain: Chain | null;
}

const HEX = /^0x([0-9a-fA-F]{2})+$/;
const TRUE = 1n;

/**
 * Returns true if a wallet signed a message by personal_sign: with its own key, or as a contract
 * (https://eips.ethereum.org/EIPS/eip-1271), also one that is not deployed yet (https://eips.ethereum.org/EIPS/eip-6492).
 * @throws {ChainError} if only the chain can decide and it does not answer
 */
export async function isSignedBy(signed: WalletSignature): Promise<boolean> {
	if (await isSignedByKey(signed)) return true;
	return signed.chain !== null && (await isSignedByContract({ ...signed, chain: signed.chain }));
}

/** Returns true if the wallet's own key made the signature. */
export async function isSignedByKey({ wallet, message, signature }: Omit<WalletSignature, "chain">): Promise<boolean> {
	return HEX.test(signature) && (await recoverSigner(message, Buffer.from(signature.slice(2), "hex"))) === wallet;
}

/**
 * Returns true if the wallet is a contract that accepts the signature as its own.
 * @throws {ChainError}
 */
export async function isSignedByContract(signed: WalletSignature & { readonly chain: Chain }): Promise<boolean> {
	const { chain, wallet, message } = signed;
	if (!HEX.test(signed.signature)) return false;
	const signature = signed.signature as Hex;
	const viem = await import("viem");
	const { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode, hashMessage, isErc6492Signature } = viem;
	if (!isErc6492Signature(signature) && !(await chain.hasCode(wallet, "latest"))) return false;
	const data = viem.encodeDeployData({
		abi: erc6492SignatureValidatorAbi,
		bytecode: erc6492SignatureValidatorByteCode,
		args: [wallet as Hex, hashMessage(message), signature],
	});
	try {
		const answer = await chain.call({ data }, "latest");
		return answer !== "0x" && BigInt(answer) === TRUE;
	} catch (error) {
		if (error instanceof ChainRefusedError && error.reverted) return false;
		throw error;
	}
}
