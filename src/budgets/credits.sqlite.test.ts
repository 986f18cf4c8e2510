import { StoreFolder } from "../store/testing/store-folder.ts";
import { testCredits } from "./testing/credits-contract.ts";

testCredits(() => new StoreFolder());
