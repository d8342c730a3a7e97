// Shortcodes that people and bots write most; an unknown one stays as it was written.

const TABLE = `
smile 😄 grinning 😀 smiley 😃 grin 😁 laughing 😆 joy 😂 sweat_smile 😅 slightly_smiling_face 🙂 blush 😊 wink 😉
heart_eyes 😍 thinking_face 🤔 neutral_face 😐 confused 😕 cry 😢 sob 😭 angry 😠 rage 😡 sunglasses 😎 scream 😱
hugging_face 🤗 pray 🙏 clap 👏 raised_hands 🙌 wave 👋 ok_hand 👌 +1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 muscle 💪
point_right 👉 point_left 👈 point_up ☝️ point_down 👇 eyes 👀 handshake 🤝 raised_hand ✋ hand ✋ bow 🙇
heart ❤️ broken_heart 💔 star ⭐ sparkles ✨ fire 🔥 tada 🎉 confetti_ball 🎊 gift 🎁 100 💯 rocket 🚀 zap ⚡ bulb 💡
white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌ negative_squared_cross_mark ❎ no_entry ⛔
no_entry_sign 🚫 warning ⚠️ rotating_light 🚨 exclamation ❗ question ❓ grey_question ❔ information_source ℹ️
red_circle 🔴 large_blue_circle 🔵 large_green_circle 🟢 large_yellow_circle 🟡 large_orange_circle 🟠 white_circle ⚪
black_circle ⚫ hourglass ⌛ hourglass_flowing_sand ⏳ clock1 🕐 clock3 🕒 alarm_clock ⏰ stopwatch ⏱️ calendar 📅 date 📅
package 📦 truck 🚚 airplane ✈️ shopping_trolley 🛒 shopping_bags 🛍️ moneybag 💰 credit_card 💳 receipt 🧾 dollar 💵
euro 💶 yen 💴 label 🏷️ mag 🔍 lock 🔒 unlock 🔓 key 🔑 memo 📝 pencil ✏️ pencil2 ✏️ clipboard 📋 page_facing_up 📄
paperclip 📎 link 🔗 email 📧 envelope ✉️ inbox_tray 📥 outbox_tray 📤 speech_balloon 💬 telephone_receiver 📞 phone ☎️
bell 🔔 no_bell 🔕 robot_face 🤖 wrench 🔧 hammer 🔨 gear ⚙️ shield 🛡️ ticket 🎫 bust_in_silhouette 👤
busts_in_silhouette 👥 raising_hand 🙋 technologist 🧑‍💻 house 🏠 department_store 🏬 globe_with_meridians 🌐
arrow_right ➡️ arrow_left ⬅️ arrow_up ⬆️ arrow_down ⬇️ arrows_counterclockwise 🔄 repeat 🔁 leftwards_arrow_with_hook ↩️
one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣ heavy_plus_sign ➕ heavy_minus_sign ➖ chart_with_upwards_trend 📈 bar_chart 📊
sun_with_face 🌞 rainbow 🌈 coffee ☕ cake 🍰 dog 🐶 cat 🐱 see_no_evil 🙈 zzz 💤 bug 🐛 seedling 🌱 tea 🍵
`;

const words = TABLE.trim().split(/\s+/);
const EMOJI = new Map();
for (let at = 0; at < words.length; at += 2) EMOJI.set(words[at], words[at + 1]);

export const emoji = (name) => EMOJI.get(name.replace(/::skin-tone-\d$/, ""));
