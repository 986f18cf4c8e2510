/**
 * Pictures: read, brought to a size and format, scored, blurred, edited and enlarged. Promises: type by content; limits of
 * pixels before anything is decoded; each picture in a killable process, within its time and memory; a refusal says what
 * is wrong. Local editing is deterministic and says what it does not understand. Nothing of a picture outlives its answer.
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
