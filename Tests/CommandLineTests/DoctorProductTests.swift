import CounterfoilClientTesting
import TestSupport
import Testing

/// Tests of the doctor at scripted servers of other projects.
extension DoctorTests {
    /// The scripts of the products, and the exit code of the doctor for a registered client.
    private static let products: [(ScriptedProduct, Int32)] = ScriptedProduct.allCases.map { product in
        // oauth2-mock-server redirects to every redirect URI, which no sign-in should rely on.
        (product, product == .oauth2MockServer ? 5 : 0)
    }

    static let productClient = ["--client-id", "lightbox", "--scope", "openid profile offline_access"]

    // RFC 6454 §7: native clients send no Origin. RFC 7591 §3: no client is registered.
    @Test(arguments: products)
    func `the verdict on each server of other projects is that of a sign-in`(
        product: ScriptedProduct, status: Int32
    ) async throws {
        var script = ServerScript.product(product)
        var arguments = Self.productClient + ["--sign-in", "--browser", "print"]
        if product == .canaille {
            // The server compares ports, so the port is part of the registration.
            let port = try await Self.unusedPort()
            script.clients.redirects = .exactly(["http://127.0.0.1:\(port)/callback"])
            arguments += ["--redirect-uri", "http://127.0.0.1:\(port)/callback"]
        }
        let (outcome, report, requests) = try await Self.verdict(script, arguments)
        #expect(outcome.status == status, "\(report.findings)")
        #expect(report.faultTopics == (status == 0 ? [] : ["redirect-anywhere"]))
        #expect(report.topics.contains("sign-in"))
        #expect(report.topics.contains("not-tried"))
        #expect(!report.topics.contains("keys-change"))
        #expect(requests.allSatisfy { $0.origin == nil && $0.endpoint != .registration })
        switch product {
        case .springAuthorizationServer:
            #expect(report.topics.contains("par-refused") && report.topics.contains("device-refused"))
        case .canaille: #expect(report.topics.contains("silent-fails"))
        case .zitadelOIDC: #expect(report.topics.contains("device-refused"))
        default: break
        }
    }

    // RFC 6749 §4.1.2.1: the servers show error pages in different ways.
    @Test(arguments: ScriptedProduct.allCases.filter { $0 != .oauth2MockServer })
    func `an unregistered redirect URI is a fault at each server`(product: ScriptedProduct) async throws {
        let (outcome, report, _) = try await Self.verdict(
            .product(product), Self.productClient + ["--redirect-uri", "http://127.0.0.1/other"])
        #expect(report.faultTopics == ["redirect-refused"], "\(report.findings)")
        #expect(outcome.status == 7)
        var script = ServerScript.product(product)
        script.clients.known = ["other-client"]
        let (unknown, other, _) = try await Self.verdict(script, Self.productClient)
        #expect(other.faultTopics.contains("redirect-refused"), "\(other.findings)")
        #expect(unknown.status == 7)
    }
}
