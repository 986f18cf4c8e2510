import { ImageFault } from "../port.ts";
import { MAX_OPERATIONS, type Operation } from "./operation.ts";
import { readAdjustment } from "./read-adjustment.ts";
import { readDecoration } from "./read-decoration.ts";
import { readReshaping } from "./read-reshaping.ts";
import { readTurn } from "./read-turn.ts";
import { Misread, TokenReader } from "./token-reader.ts";
import { type Token, tokensOf } from "./tokens.ts";

export const MAX_PROMPT_CHARS = 2_000;
/** The number of unknown words that an error message quotes. */
const MAX_QUOTED = 3;
const MAX_QUOTED_CHARS = 60;

/** Words before an operation that have no meaning of their own. */
const OPENINGS = ["make", "convert", "turn", "change", "apply", "add", "set", "do", "give", "use"];

/** An opacity after a text or a layer may be meant for it, or for the image. */
const OPACITY_HINT = 'put the opacity of a text or layer into its edit, as in: write "Hello" with opacity 50%';

const CAN_DO =
	"Local editing makes no new content. It can: resize, scale, crop (also to a circle or ellipse), trim, pad, rotate, flip, mirror, blur, pixelate, sharpen, " +
	"grayscale, sepia, tint, brightness, contrast, saturation, warmth, hue, invert, vignette, opacity, round corners, border, write text, place layers, " +
	"fill a masked region, and make a plain background transparent; " +
	'for example: resize to 800x600, rotate 90 and write "Hello" at bottom right in white';

/**
 * Returns the operations of a prompt, in their order.
 * @throws {ImageFault} `not-understood`, with the unknown words and the possible edits
 */
export function parsePrompt(prompt: string): Operation[] {
	if (prompt.length > MAX_PROMPT_CHARS)
		throw new ImageFault("not-understood", `The prompt of local editing has at most ${MAX_PROMPT_CHARS} characters`);
	const tokens = tokensOf(prompt);
	const reader = new TokenReader(tokens);
	const operations: Operation[] = [];
	const refused: string[] = [];
	for (reader.skipJoints(); !reader.done; reader.skipJoints()) {
		const start = reader.position;
		try {
			const operation = readOperation(reader);
			const before = operations.at(-1)?.op;
			if (operation.op === "opacity" && (before === "text" || before === "layer")) throw new Misread(OPACITY_HINT);
			operations.push(operation);
		} catch (fault) {
			if (!(fault instanceof Misread)) throw fault;
			reader.position = start;
			reader.skipToSeparator();
			refused.push(quoteTokens(prompt, tokens.slice(start, reader.position)) + (fault.hint === null ? "" : ` (${fault.hint})`));
		}
	}
	if (refused.length > 0)
		throw new ImageFault("not-understood", `Not understood: ${refused.slice(0, MAX_QUOTED).join(", ")}. ${CAN_DO}`);
	if (operations.length === 0) throw new ImageFault("not-understood", `The prompt says nothing that can be done. ${CAN_DO}`);
	if (operations.length > MAX_OPERATIONS)
		throw new ImageFault("not-understood", `The prompt has ${operations.length} edits; at most ${MAX_OPERATIONS} are allowed`);
	return operations;
}

function readOperation(reader: TokenReader): Operation {
	reader.phrase("can you", "could you");
	const opening = reader.phrase(...OPENINGS);
	const turned = opening === "turn" ? readTurn(reader) : null;
	reader.phrase("to", "into", "in");
	const operation = turned ?? readAdjustment(reader) ?? readReshaping(reader) ?? readDecoration(reader);
	if (operation === null || !reader.atJoint) throw new Misread();
	return operation;
}

function quoteTokens(prompt: string, tokens: readonly Token[]): string {
	const words = prompt.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0).replaceAll(/\s+/g, " ");
	return JSON.stringify(words.length > MAX_QUOTED_CHARS ? `${words.slice(0, MAX_QUOTED_CHARS)}...` : words);
}
