/**
 * Reads, converts, scores, blurs, edits and enlarges images. The type is detected by content; pixel limits apply before
 * decoding; each image runs in a killable process with limits of time and memory. Local editing is deterministic and reports
 * words that it does not understand. Nothing of an image outlives its answer.
 */
export { ADULT_SCORER_ASSET } from "./adult-scorer.ts";
export { checkImages } from "./check.ts";
export { EmbeddedImages, type EmbeddedImagesOptions } from "./embedded-images.ts";
export {
	type Enlargement,
	type FinishOptions,
	IMAGE_MEDIA_TYPES,
	type ImageEngine,
	ImageFault,
	type ImageFaultKind,
	type ImageFormat,
	imageFaultAnswer,
	type LocalEdit,
	MAX_EDIT_IMAGES,
	MAX_IMAGE_BYTES,
	MAX_IMAGE_PIXELS,
	MAX_UPSCALED_PIXELS,
	MIN_IMAGE_PIXELS,
	type OutputFormat,
	type Picture,
	type ScorerState,
} from "./port.ts";
