import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilWeb

struct MetricsTextTests {
    @Test func `the metrics contain counts and no names`() async throws {
        let test = try await TestServer()
        _ = try await Attempt(test).tokens()
        var browser = test.browser()
        _ = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: "wrong one")
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/oauth2/token")
        let request = IncomingRequest(head: head, source: "192.0.2.1", id: "r")
        test.server.noteAnswer(to: request, at: .token, status: .ok, after: .milliseconds(3))
        test.server.noteAnswer(to: request, at: .token, status: .tooManyRequests, after: .milliseconds(3))
        test.server.noteAnswer(to: request, at: nil, status: .notFound, after: .seconds(20))

        var text = MetricsText()
        text.write(test.server.metrics.snapshot)
        text.write(try #require(await test.server.refreshStatistics()))
        text.writeProcess(uptime: 12.5)
        let lines = text.text.split(separator: "\n").map(String.init)
        for line in [
            #"counterfoil_http_requests_total{endpoint="token",status="2xx"} 1"#,
            #"counterfoil_http_requests_total{endpoint="token",status="4xx"} 1"#,
            #"counterfoil_http_requests_total{endpoint="none",status="4xx"} 1"#,
            #"counterfoil_http_request_duration_seconds_bucket{endpoint="token",le="0.0025"} 0"#,
            #"counterfoil_http_request_duration_seconds_bucket{endpoint="token",le="0.005"} 2"#,
            #"counterfoil_http_request_duration_seconds_bucket{endpoint="none",le="10.0"} 0"#,
            #"counterfoil_http_request_duration_seconds_bucket{endpoint="none",le="+Inf"} 1"#,
            #"counterfoil_http_request_duration_seconds_count{endpoint="token"} 2"#,
            #"counterfoil_throttled_requests_total{endpoint="token"} 1"#,
            #"counterfoil_tokens_issued_total{grant="authorization_code"} 1"#,
            #"counterfoil_audit_events_total{kind="sign-in",outcome="refused"} 1"#,
            #"counterfoil_audit_events_left_out_total{kind="client-authentication"} 0"#,
            "counterfoil_sign_in_failures_total 1", "counterfoil_audit_write_failures_total 0",
            "counterfoil_store_errors_total 0", "counterfoil_refresh_repeats_total 0",
            "counterfoil_refresh_reuses_total 0", "counterfoil_grants_revoked_total 0",
            "counterfoil_uptime_seconds 12.5",
            #"counterfoil_build_info{version="\#(Build.version)"} 1"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!text.text.contains("lightbox") && !text.text.contains("alice") && !text.text.contains("192.0.2.1"))
        #if os(Linux)
            let name = "process_start_time_seconds "
            let start = lines.first { $0.hasPrefix(name) }.flatMap { Double($0.dropFirst(name.count)) } ?? 0
            #expect((-1...86_400).contains(Date().timeIntervalSince1970 - start), "\(start)")
        #endif
        // Each family is declared once, before its samples.
        let declared = lines.filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(declared).count == declared.count)
    }
}
