import Testing

@testable import CounterfoilClient

/// Tests of the errors of Apple's web authentication session.
struct WebAuthenticationFailureTests {
    // The next redirect option is used only if this one cannot be used, and not if the user closed the page.
    @Test func `a missing association is told from a page that the user closed`() {
        let reason = "Application with identifier com.example.lightbox is not associated with domain lightbox.example."
        #expect(WebAuthenticationFailure.error(code: 1, reason: nil) == .cancelled)
        #expect(WebAuthenticationFailure.error(code: 1, reason: "") == .cancelled)
        #expect(WebAuthenticationFailure.error(code: 1, reason: reason) == .cannotListen(reason))
        #expect(WebAuthenticationFailure.error(code: 1, reason: "a\u{1B}[2Jb") == .cannotListen("a[2Jb"))
    }

    @Test func `every other error means that the page cannot be shown`() {
        for code in [2, 3] {
            #expect(WebAuthenticationFailure.error(code: code, reason: "why") == WebAuthenticationFailure.noWindow)
        }
        #expect(WebAuthenticationFailure.error(code: 4, reason: "why") == .cannotListen("why"))
        #expect(
            WebAuthenticationFailure.error(code: 4, reason: nil)
                == .cannotListen("the system did not show the page (error 4)"))
    }
}
