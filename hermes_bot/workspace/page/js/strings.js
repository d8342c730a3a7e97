// The page's languages: which is spoken, its words, and what belongs to the demo's people and channels. The words stand in
// words_*.js; nothing else holds prose.
import { en } from "./words_en.js";
import { zh } from "./words_zh.js";

// What a newcomer may click to write, by person. The order numbers are those of the demo shop.
export const hints = {
  U0EMMA: ["Where is my order 10002?", "I want a refund for order 10001", "Can I talk to a person?"],
  U0LINA: ["我的订单 10008 到哪里了？", "我想为订单 10007 申请退款", "请转人工"],
};

// What the demo's channels are for. A topic that people set themselves is shown as they wrote it.
const topics = {
  zh: {
    "Questions about your order": "关于订单的问题",
    "Tickets for people": "需要人工处理的工单",
    "Everything else": "其他话题",
    "With the people of Casa Azul, who sell our goods": "与销售我们商品的 Casa Azul 同事交流",
  },
};

export const topicIn = (language, topic) => topics[language]?.[topic] ?? topic;

export const languages = { en: "English", zh: "中文" };
const tables = { en, zh };

export const strings = (language) => tables[language] ?? en;

export function preferredLanguage() {
  const kept = localStorage.getItem("hermes.language");
  if (kept in tables) return kept;
  return /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

// The reader's own region where it goes with the chosen language ("en-GB"), for dates and times.
export const localeOf = (language) => navigator.languages.find((one) => one.split("-")[0] === language) ?? language;

export const keepLanguage = (language) => localStorage.setItem("hermes.language", language);

export const reason = (t, code) => t.reasons[code] ?? String(code ?? "");
