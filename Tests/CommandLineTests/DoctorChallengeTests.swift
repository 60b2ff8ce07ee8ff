import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

/// Tests of the doctor's judgment of challenges.
@Suite(.timeLimit(.minutes(5)))
struct DoctorChallengeTests {
    private static let place = ServerScript.place

    // RFC 6750 §3, RFC 9728 §5.1
    @Test(
        arguments: [
            (["DPoP algs=\"ES256\", \(place), scope=\"a\"", "Bearer \(place), scope=\"a\""], "challenge-order", 0),
            (["Basic realm=\"a\"", "Bearer \(place), scope=\"a\""], "challenge-order", 0),
            (["DPoP \(place), scope=\"a\", algs=\"ES256\""], nil, 0),
            (["Bearer scope=\"a\""], "challenge-metadata-missing", 0),
            (["Bearer \(place)"], "challenge-scope-missing", 0),
            (
                ["Bearer error_description=\"send scope=b\", \(place), scope=\"a\""], "challenge-misread", 0
            ),
            (["Bearer error=\"invalid_token\", x_error=\"a\", \(place), scope=\"a\""], nil, 0),
            (["Bearer \(place), scope=\"a\", error_description=\"no error=a\""], "challenge-misread", 0),
            (
                ["Bearer resource_metadata=\"/.well-known/oauth-protected-resource/api\""], "resource-metadata-address",
                5
            ),
            (["Negotiate"], "challenge-unreadable", 5), ([], "challenge-unreadable", 5),
        ] as [([String], String?, Int32)])
    func `a challenge that some clients cannot read is reported`(
        challenges: [String], topic: String?, status: Int32
    ) async throws {
        var script = ServerScript.mcpServer()
        script.api.challenges = challenges
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of(["--resource", server.url(of: .api)])
            let found = report.findings.filter { $0.weight != "sound" }.map(\.topic)
                .filter { $0.hasPrefix("challenge") || $0 == "resource-metadata-address" }
            if let topic { #expect(found.contains(topic), "\(report.findings)") } else { #expect(found.isEmpty) }
            #expect(outcome.status == status, "\(report.faultTopics)")
        }
    }

    // RFC 9470 §3, OpenID Connect Discovery §3
    @Test(
        arguments: [
            (["phr", "urn:counterfoil:acr:passkey"], nil),
            (["urn:counterfoil:acr:passkey"], "phr (phishing-resistant)"),
            (nil, "phr (phishing-resistant), urn:counterfoil:acr:passkey (a passkey)"),
        ] as [([String]?, String?)])
    func `the doctor names the acr values of the server, and those of the API that it does not list`(
        listed: [String]?, missing: String?
    ) async throws {
        var script = ServerScript.mcpServer()
        script.challenge("Bearer \(Self.place), scope=\"a\", acr_values=\"phr urn:counterfoil:acr:passkey\"")
        if let listed {
            let values = WireValue.list(listed.map { .text($0) })
            script.metadata.replaced.append(WireMember("acr_values_supported", values))
        }
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of(["--resource", server.url(of: .api)])
            #expect(outcome.status == 0, "\(report.faultTopics)")
            #expect((report["acr-values"] != nil) == (listed != nil), "\(report.topics)")
            if listed != nil {
                #expect(report["acr-values"]?.text.contains("urn:counterfoil:acr:passkey (a passkey)") == true)
            }
            let text = missing.map { "the API demands acr values that the server does not list: \($0)" }
            #expect(report["acr-not-listed"]?.text == text)
            // With one value that the server lists, a step-up can succeed.
            #expect((report["acr-not-listed"]?.why != nil) == (listed == nil))
        }
    }
}
