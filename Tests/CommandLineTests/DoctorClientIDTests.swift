import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport
import Testing

/// Tests of the doctor's judgment of what a client needs that is not registered.
@Suite(.timeLimit(.minutes(5)))
struct DoctorClientIDTests {
    private static func report(_ change: (inout ServerScript) -> Void) async throws -> DoctorReport {
        var script = ServerScript.mcpServer()
        change(&script)
        return try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of(["--resource", server.url(of: .api)])
            #expect(outcome.status == 0, "\(report.faultTopics)")
            #expect(server.requests(to: .registration).isEmpty)
            return report
        }
    }

    // OAuth Client ID Metadata Document §5
    @Test func `client documents count only with clients that do not authenticate`() async throws {
        let secret = try await Self.report {
            $0.metadata.replaced.append(WireMember("token_endpoint_auth_methods_supported", ["client_secret_basic"]))
        }
        #expect(secret["client-documents-none"]?.why?.contains("Claude") == true, "\(secret.findings)")
        #expect(!secret.topics.contains("client-documents"))
        // RFC 8414 §2: without the member, the method is client_secret_basic.
        let silent = try await Self.report { $0.metadata.omitted = ["token_endpoint_auth_methods_supported"] }
        #expect(silent.topics.contains("client-documents-none"))
        #expect(silent.topics.contains("client-documents-absent"))
    }

    // RFC 7591 §3
    @Test func `without client documents and registration, unknown clients cannot sign in`() async throws {
        let registration = try await Self.report { $0.metadata.replaced = [] }
        #expect(registration.topics.contains("client-documents-absent"), "\(registration.findings)")
        let neither = try await Self.report {
            $0.metadata.replaced = []
            $0.metadata.absent.insert(.registration)
        }
        #expect(neither["client-identification-none"]?.why?.contains("VS Code") == true, "\(neither.findings)")
        let documents = try await Self.report { $0.metadata.absent.insert(.registration) }
        #expect(!documents.topics.contains { $0 == "client-documents-absent" || $0 == "client-identification-none" })
    }

    // RFC 6750 §3, RFC 9728 §2
    @Test func `the scopes that clients would request are reported`() async throws {
        let report = try await Self.report {
            $0.challenge("Bearer \(ServerScript.place)")
            $0.metadata.resourceOmitted = ["scopes_supported"]
            $0.metadata.replaced.append(WireMember("scopes_supported", ["photos.read", "photos.admin"]))
        }
        for topic in ["scope-everything", "offline-access-unlisted", "challenge-scope-missing"] {
            #expect(report.topics.contains(topic), "\(topic)")
        }
        let named = try await Self.report { $0.challenge("Bearer \(ServerScript.place)") }
        #expect(!named.topics.contains("scope-everything"), "\(named.findings)")
    }
}
