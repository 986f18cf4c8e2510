import { MAX_EDIT_IMAGES, MAX_IMAGE_BYTES } from "../../engines/images/port.ts";

/** Maximum size of a picture: less than 25 MiB. */
export const MAX_FILE_BYTES = MAX_IMAGE_BYTES - 1;
/** Maximum body size with one picture of 25 MB in base64. */
export const ONE_PICTURE_BODY_BYTES = 37_748_736;
/** Maximum body size with three pictures. */
export const THREE_PICTURES_BODY_BYTES = 113_246_208;
/** Maximum length of any prompt, in Unicode code points. */
export const MAX_PROMPT = 32_768;
export const MAX_PICTURES = MAX_EDIT_IMAGES;

export const RATIOS = ["auto", "1:1", "3:2", "16:9", "21:9", "9:16", "2:3", "3:4", "4:5"] as const;
export const QUALITIES = ["low", "medium", "high"] as const;
/** Media types of answers that are a picture. */
export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
export const OUTPUT_FORMATS = ["jpeg", "png", "webp"] as const;
