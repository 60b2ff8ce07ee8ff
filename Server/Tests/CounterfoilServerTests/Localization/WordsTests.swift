import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// Formats of dates, durations and texts.
struct WordsTests {
    @Test(arguments: [
        (Language.english, "21 November 2026"), (.german, "21. November 2026"), (.norwegian, "21. november 2026"),
        (.french, "21 novembre 2026"), (.spanish, "21 de noviembre de 2026"),
    ])
    func `a date has the format of its language`(language: Language, day: String) throws {
        // One second before midnight in UTC, whatever the time zone of the server.
        let date = try Date("2026-11-21T23:59:59Z", strategy: .iso8601)
        #expect(Localizer(language).date(date) == day)
    }

    @Test(arguments: [
        (1, "one second"), (90, "90 seconds"), (120, "2 minutes"), (3600, "one hour"), (5400, "90 minutes"),
        (7200, "2 hours"), (86400, "24 hours"), (180 * 86400, "180 days"),
    ])
    func `a duration has the unit that people use`(seconds: Int, said: String) {
        #expect(Localizer.english(.duration(seconds: seconds)) == said)
    }

    @Test func `an end is a time of today, or of another day, rounded up to the minute`() throws {
        let now = try Date("2026-11-21T22:58:00Z", strategy: .iso8601)
        let words = Localizer.english
        #expect(words.end(now, now: now) == "22:58 UTC")
        #expect(words.end(now + 1, now: now) == "22:59 UTC")
        #expect(words.end(now + 3661, now: now) == words.moment(now + 3720))
        #expect(words.end(now - 86_400, now: now) == words.moment(now - 86_400))
    }

    @Test func `a wait uses the singular for one`() {
        #expect(Localizer.english(.wait(seconds: 1)) == "Try again in 1 second.")
        #expect(Localizer.english(.wait(seconds: 59)) == "Try again in 59 seconds.")
        #expect(Localizer.english(.wait(seconds: 60)) == "Try again in 1 minute.")
        #expect(Localizer.english(.wait(seconds: 61)) == "Try again in 2 minutes.")
    }

    @Test func `a text of the catalogue has placeholders and bold words`() throws {
        let message = try MessageTemplate(parsing: "Give *{a.name}* up to {count} of *.example.com, *now*")
        #expect(
            message.pieces == [
                .text("Give "), .boldBegins, .placeholder("a.name"), .boldEnds, .text(" up to "), .placeholder("count"),
                .text(" of *.example.com, "), .boldBegins, .text("now"), .boldEnds,
            ])
        #expect(message.placeholders == ["a.name", "count"])
    }

    @Test(arguments: ["{", "}", "a {b", "a} b", "{}", "{a b}", "{{a}}", "{a<b}", "{a*}"])
    func `a text with an invalid placeholder is refused`(text: String) {
        #expect(throws: MessageTemplate.Refusal.brokenPlaceholder) { try MessageTemplate(parsing: text) }
    }
}
