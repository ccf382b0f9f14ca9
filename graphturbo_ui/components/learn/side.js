// Beside the picture: the step's control, its question, and what is said once it is revealed.

import { htmlNode } from "../overview/draw.js";

export class Side {
  /** `lecture`: has `step`, `now`, `lesson`, `areNotesOpen`; `turn`, `choose` and `reveal` act. */
  constructor(root, lecture) {
    this.root = root;
    this.lecture = lecture;
    this.revealButton = root.querySelector("[data-act=reveal]");
    this.revealButton.addEventListener("click", () => lecture.reveal());
  }

  part(selector) {
    return this.root.querySelector(selector);
  }

  show() {
    if (!this.lecture.isBlocked) {
      this.showKnob();
      this.showQuestion();
    }
    this.showNotes();
  }

  showKnob() {
    const { step, now } = this.lecture;
    const { name, values } = step.knob;
    const value = values.find(({ key }) => key === now.knob);
    this.part(".knob h2").textContent = this.lecture.lesson.mode === "present" ? `${name}: ${value.label}` : name;
    const place = this.part(".values");
    place.setAttribute("aria-label", name);
    this.keepFocus(place, values.map((each) => this.value(each, now)));
    this.part(".knob .result").textContent = value.result;
  }

  value({ key, label, is_hidden: isHidden }, now) {
    const isLocked = isHidden && !now.isRevealed;
    const button = htmlNode("button", "value", label);
    Object.assign(button, { type: "button", disabled: isLocked });
    if (isLocked) button.title = "Can be chosen once the answer is revealed";
    button.dataset.key = key;
    button.setAttribute("aria-pressed", String(key === now.knob));
    button.addEventListener("click", () => this.lecture.turn(key));
    return button;
  }

  showQuestion() {
    const { step: { question, takeaway }, now } = this.lecture;
    this.part(".question").classList.toggle("plain", question === null);
    this.part(".takeaway").textContent = now.isRevealed ? takeaway : "";
    if (question === null) {
      for (const part of [".question h2", ".choices", ".why"]) this.part(part).replaceChildren();
      this.revealButton.hidden = true;
      return;
    }
    this.part(".question h2").textContent = question.ask;
    const choices = question.choices.map((text, at) => this.choice(text, at, question, now));
    this.keepFocus(this.part(".choices"), choices);
    this.part(".question").dataset.state = now.isRevealed ? "revealed" : now.chosen < 0 ? "open" : "chosen";
    this.revealButton.disabled = now.chosen < 0;
    this.revealButton.textContent = now.chosen < 0 ? "Choose an answer to reveal" : "Reveal";
    this.revealButton.hidden = now.isRevealed;
    this.part(".why").textContent = now.isRevealed ? question.why : "";
  }

  choice(text, at, question, now) {
    const button = htmlNode("button", "choice", htmlNode("span", "n", String(at + 1)), htmlNode("span", "text", text));
    Object.assign(button, { type: "button" });
    button.dataset.key = String(at);
    button.setAttribute("aria-pressed", String(at === now.chosen));
    if (now.isRevealed) {
      const isRight = at === question.answer;
      button.dataset.state = isRight ? "right" : at === now.chosen ? "wrong" : "other";
      button.setAttribute("aria-disabled", "true");
      if (isRight) button.append(htmlNode("span", "mark", "✓"));
      else if (at === now.chosen) button.append(htmlNode("span", "mark", "✗"));
    }
    button.addEventListener("click", () => this.lecture.choose(at));
    return button;
  }

  showNotes() {
    const { lesson, step, areNotesOpen } = this.lecture;
    const isOpen = areNotesOpen && lesson.mode !== "present";
    const notes = this.part(".notes");
    notes.hidden = !isOpen;
    notes.replaceChildren(...step.notes.map(([name, text]) => htmlNode("p", "", htmlNode("b", "", `${name} `), text)));
    this.part("[data-act=notes]").setAttribute("aria-expanded", String(isOpen));
  }

  /** Read the answer aloud. */
  say() {
    const { question, takeaway } = this.lecture.step;
    this.part(".said").textContent = `Answer: ${question.choices[question.answer]}. ${question.why} ${takeaway}`;
  }

  /** Replace buttons; the one that has the focus keeps it. */
  keepFocus(place, buttons) {
    const focused = place.getRootNode().activeElement;
    const key = place.contains(focused) ? focused.dataset.key : null;
    place.replaceChildren(...buttons);
    if (key !== null) buttons.find((button) => button.dataset.key === key)?.focus();
  }
}
