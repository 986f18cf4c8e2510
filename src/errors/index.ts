/** The error table and the error class. Every status that the API answers is in `table.ts`. */
export { ApiError, type ApiErrorOptions, type Issue } from "./api-error.ts";
export { ERROR_TABLE, type ErrorCode } from "./table.ts";
export { markUnsupported } from "./unsupported-feature.ts";
