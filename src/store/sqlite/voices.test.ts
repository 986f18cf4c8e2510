import { StoreFolder } from "../testing/store-folder.ts";
import { testVoices } from "../testing/voices-contract.ts";

testVoices(async () => new StoreFolder());
