import ACMETesting
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ACMEClient

/// One order, from the account to the certificate (RFC 8555 §7).
@Suite("ACME: one order of a certificate")
struct CertificateOrderTests {
    /// The challenges that are answered, and the pauses of the order, none of which takes time.
    private final class Servers: ChallengePublisher {
        let published = NIOLockedValueBox<[PublishedChallenge]>([])
        let pauses = NIOLockedValueBox<[TimeInterval]>([])
        let delay: TimeInterval = 1

        func publish(_ challenges: [PublishedChallenge], lasting: TimeInterval) async throws {
            published.withLockedValue { $0 = challenges }
        }

        func withdraw() async { published.withLockedValue { $0 = [] } }
    }

    private let authority: ScriptedAuthority
    private let servers = Servers()
    private let key = AccountKey()

    init() throws { authority = try ScriptedAuthority() }

    private func issue(
        hosts: [String] = ["id.example.com", "cb.example.net"], challenge: ACMESettings.Challenge = .tls,
        replacing former: String? = nil
    ) async throws -> CertificateOrder.Issued {
        var clock = OrderClock()
        clock.pause = { [servers] time in servers.pauses.withLockedValue { $0.append(time) } }
        clock.now = { [servers] in Date() + servers.pauses.withLockedValue { $0.reduce(0, +) } }
        let url = try #require(authority.url)
        let settings = ACMESettings(
            directory: url, contact: "owner@example.com", hosts: hosts, challenge: challenge)
        return try await CertificateOrder(
            settings, client: AuthorityClient(url, transport: authority, clock: clock), accountKey: key,
            challenges: servers, clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).issue(replacing: former) {}
    }

    @Test(arguments: ACMESettings.Challenge.allCases)
    func `the challenge of each host is answered until the authority has validated it`(
        challenge: ACMESettings.Challenge
    ) async throws {
        let answered = NIOLockedValueBox<[PublishedChallenge]>([])
        authority.state.withLockedValue { state in
            state.refusedNonces = 3
            state.probe = { [servers] in
                let published = servers.published.withLockedValue { $0 }
                answered.withLockedValue { $0 = published }
                return published.first?.keyAuthorization
            }
        }
        let issued = try await issue(challenge: challenge)
        #expect(CertificateIdentity(chain: issued.chain) != nil)
        #expect(issued.key.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        let challenges = answered.withLockedValue { $0 }
        #expect(challenges.map(\.host) == ["id.example.com", "cb.example.net"])
        #expect(Set(challenges.map(\.type)) == [challenge.rawValue])
        let token = try #require(challenges.first?.token)
        let answer = try key.authorization(ofToken: token)
        #expect(challenges.first?.keyAuthorization == answer)
        #expect(servers.published.withLockedValue { $0 } == [])
        #expect(authority.state.withLockedValue { $0.errors } == [])
    }

    @Test func `a second order uses the account, and names the certificate that it replaces`() async throws {
        _ = try await issue()
        _ = try await issue(replacing: "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE")
        let state = authority.state.withLockedValue { $0 }
        #expect(state.accounts.count == 1)
        #expect(state.replaced == [nil, "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE"])
        #expect(state.errors == [])
    }

    @Test func `the pause that the authority asks for is kept`() async throws {
        authority.state.withLockedValue { state in
            state.responses["/orders/1"] = [
                AuthorityResponse(
                    status: 200, retryAfter: "1800",
                    body: Array(
                        """
                        {"status":"processing","authorizations":[],"finalize":"\(ScriptedAuthority.origin)/finalize"}
                        """.utf8))
            ]
        }
        _ = try await issue()
        #expect(servers.pauses.withLockedValue { $0.contains(1800) })
    }

    @Test func `a host that cannot be validated is named with the reason`() async throws {
        authority.state.withLockedValue { $0.isValid = false }
        let failure = try #require(await #expect(throws: ACMEError.self) { _ = try await issue() })
        #expect(
            "\(failure)" == "the authority could not validate id.example.com by tls-alpn-01 (connection: refused)")
        #expect(servers.published.withLockedValue { $0 } == [])
    }

    @Test func `a failure after the finalization is a late one`() async throws {
        authority.state.withLockedValue { $0.lost = ["/certificate": .max] }
        let failure = try #require(await #expect(throws: ACMEError.self) { _ = try await issue() })
        guard case .late(.unreachable(.certificate, _)) = failure else {
            Issue.record("\(failure)")
            return
        }
    }
}
