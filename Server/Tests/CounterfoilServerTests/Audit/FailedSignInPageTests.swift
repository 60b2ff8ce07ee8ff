import CounterfoilStore
import Foundation
import TestSupport
import Testing

@testable import CounterfoilServer

/// The page for operators with the reasons of failed sign-ins, `docs/operations/failed-sign-ins.md`.
struct FailedSignInPageTests {
    private let text: String

    init() throws {
        text = try Repository.text("docs/operations/failed-sign-ins.md")
    }

    @Test func `the page lists every reason that is no error code of OAuth, once and no other`() {
        let rows = text.matches(of: /(?m)^(?:\| |Refused token requests .* have )((?:`[a-z_]+`(?:, )?)+)(?: \||or the)/)
            .map { String($0.output.1) }
        let listed = rows.flatMap { row in row.matches(of: /[a-z_]+/).map { String($0.output) } }
        let codes = AuditEvent.Reason.codes.map(AuditEvent.Reason.init(_:))
        let reasons = Set(AuditEvent.Reason.allCases).subtracting(codes)
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed).symmetricDifference(reasons.map(\.rawValue)) == [])
    }

    @Test func `the page says for how long a limit lasts`() {
        let (minutes, longer) = (SignInLimits().window / 60, Int(ClientDirectory.firstApprovalWindow / 60))
        #expect(text.contains("Wait: at most \(minutes) minutes, or \(longer) if the detail is `first approvals`."))
    }
}
