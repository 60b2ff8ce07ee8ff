import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Request objects, which the server does not support (OpenID Connect Core §6.1; RFC 9101).
struct RequestObjectTests {
    private static func object(_ payload: String, header: String = #"{"alg":"none"}"#) -> String {
        [Array(header.utf8), Array(payload.utf8), []].map { Base64URL.encode($0) }.joined(separator: ".")
    }

    /// A request with the parameters that a request object leaves to the query (RFC 9101 §5).
    private static func attempt(_ object: String, _ parameters: KeyValuePairs<String, String> = [:]) async throws
        -> Attempt
    {
        var attempt = try await RelyingParty().attempt().with("state", nil).with("request", object)
        for (name, value) in parameters { attempt = attempt.with(name, value) }
        return attempt
    }

    // OpenID Connect Core §3.1.2.6
    @Test(arguments: [#"{"alg":"none"}"#, #"{"alg":"RS256","kid":"k"}"#])
    func `the error goes to the redirect URI of the object, with its state`(header: String) async throws {
        let object = Self.object(#"{"response_mode":"form_post","state":"s-1","nonce":"n"}"#, header: header)
        let page = try await Self.attempt(object).firstReply().goOnPage
        #expect(page.fields.contains { $0.name == "error" && $0.value == "request_not_supported" })
        #expect(page.fields.contains { $0.name == "state" && $0.value == "s-1" })
    }

    @Test func `a parameter outside the object takes precedence over the one inside`() async throws {
        let object = Self.object(#"{"response_mode":"form_post","state":"inside"}"#)
        let reply = try await Self.attempt(object, ["response_mode": "query", "state": "outside"]).firstReply()
        #expect(try reply.redirectedError.code == .requestNotSupported)
        #expect(reply.location?.hasPrefix(RelyingParty.callback + "?") == true)
        #expect(reply.location?.contains("state=outside") == true)
        let mixed = try await Self.attempt(object, ["state": "outside"]).firstReply().goOnPage
        #expect(mixed.fields.contains { $0.name == "state" && $0.value == "outside" })
    }

    @Test func `no other member of an object is used`() async throws {
        let object = Self.object(
            #"{"redirect_uri":"https://evil.example/","client_id":"x","response_mode":"query","state":"s"}"#)
        let reply = try await Self.attempt(object).firstReply()
        #expect(reply.location?.hasPrefix(RelyingParty.callback + "?") == true)
        #expect(reply.location?.contains("evil") == false)
    }

    @Test func `an object is not read for any other error`() async throws {
        let object = Self.object(#"{"response_mode":"form_post","state":"s-1"}"#)
        let reply = try await Self.attempt(object).adding("request", object).firstReply()
        #expect(try reply.redirectedError.code == .invalidRequest)
        #expect(reply.location?.contains("state=") == false)
    }

    // RFC 8259 §4, RFC 7516 §7.1: an unreadable object is ignored.
    @Test(
        arguments: [
            "x", "a.b.c", "..", "e30.e30.e30.e30.e30", object("not JSON"), object("[]"), object("{"),
            object(#"{"response_mode":"form_post","state":"s","state":"t"}"#),
            object(#"{"response_mode":["form_post"],"state":{"a":1}}"#),
            object(#"{"response_mode":"fragment","state":7}"#),
            object(#"{"response_mode":"form_post","state":"s","x":"# + String(repeating: "[", count: 4000)),
            object(
                #"{"response_mode":"form_post","state":"s","x":"# + String(repeating: "[", count: 40)
                    + String(repeating: "]", count: 40) + "}"),
            object(#"{"response_mode":"form_post","state":"s","x":""# + String(repeating: "x", count: 12_300) + #""}"#),
            object("{\"response_mode\":\"form_post\",\"state\":\"s\",\"x\":\"\u{0}\"}"),
        ])
    func `an unreadable object is ignored`(object: String) async throws {
        let reply = try await Self.attempt(object).firstReply()
        #expect(try reply.redirectedError.code == .requestNotSupported)
        #expect(reply.location?.hasPrefix(RelyingParty.callback + "?") == true)
        #expect(reply.location?.contains("state=") == false)
    }

    // RFC 6749 §4.1.2.1: whatever the length of the state.
    @Test func `a state that is too long is returned`() async throws {
        let state = String(repeating: "s", count: 9000)
        let reply = try await Self.attempt(Self.object(#"{"state":""# + state + #""}"#)).firstReply()
        #expect(reply.location?.contains("error=request_not_supported&") == true)
        #expect(reply.location?.contains("&state=\(state)&") == true)
    }

    // A form cannot be posted to a private-use scheme.
    @Test func `a private-use scheme gets the error in its query`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Scheme", redirectURIs: ["com.example.app:/callback"])
        let object = Self.object(#"{"response_mode":"form_post","state":"s-1"}"#)
        let attempt = Attempt(test, by: client, at: "com.example.app:/callback").with("state", nil)
            .with("request", object)
        let location = try #require(try await attempt.firstReply().location)
        #expect(location.hasPrefix("com.example.app:/callback?"))
        #expect(location.contains("state=s-1"))
    }
}
