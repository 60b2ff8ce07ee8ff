@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The codes that devices show and users type (RFC 8628 §6.1).
struct UserCodeTests {
    @Test func `a user code has eight of twenty letters and is shown in two groups`() throws {
        var letters: [Character: Int] = [:]
        for _ in 0..<1000 {
            let code = UserCode()
            #expect(code.description.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil)
            for letter in code.letters { letters[letter, default: 0] += 1 }
        }
        #expect(letters.count == 20)
        // 400 of each are expected; no letter is twice as frequent as another.
        #expect(letters.values.allSatisfy { (270...550).contains($0) })
    }

    @Test func `a random byte that would favour a letter is skipped`() {
        let code = UserCode(random: RandomBytes { count in [UInt8](repeating: 239, count: count - 1) + [240] })
        #expect(code.letters == "ZZZZZZZZ")
    }

    // Case and punctuation do not matter.
    @Test(arguments: [
        "WDJB-MJHT", "wdjb-mjht", "WDJBMJHT", " wdjb mjht ", "w d j b m j h t", "WDJB–MJHT", "W.D.J.B_M/J:H,T",
        "ＷＤＪＢ－ＭＪＨＴ", "ｗｄｊｂｍｊｈｔ", "wdjb\u{200B}-mjht\u{A0}", "“WDJB-MJHT”",
    ])
    func `a code is found in any case and with any punctuation`(typed: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.type(userCode: typed).deviceCodePage
        // No device waits with this code, but it was understood.
        #expect(page.userCode == "WDJB-MJHT")
        #expect(page.problem?.hasPrefix("No device is waiting") == true)
    }

    @Test(arguments: [
        ("", "Enter the code"), ("-- --", "Enter the code"), ("ЩДЖБ-МЖХТ", "Switch your keyboard"),
        ("WDJB-MJHТ", "Switch your keyboard"), ("ŴDJB-MJHT", "Switch your keyboard"),
        ("你好", "Switch your keyboard"), ("WDJB-MJH٣", "Switch your keyboard"), ("WDJB-MJH7", "no digits"),
        ("ADJB-MJHT", "no digits"), ("WDJB-MJH", "8 letters"), ("WDJB-MJHT-B", "8 letters"),
        ("WDJB-MJHT" + String(repeating: "-", count: 70), "8 letters"),
    ])
    func `a text that is no code is refused before a sign-in, with advice`(typed: String, advice: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.type(userCode: typed)
        #expect(reply.status == .badRequest)
        #expect(try reply.deviceCodePage.problem?.contains(advice) == true)
    }
}
