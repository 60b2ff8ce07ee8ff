import Testing

@testable import CounterfoilClient

/// Tests of the sentences that alerts show.
@Suite struct LocalizedErrorsTests {
    @Test(arguments: [
        ("the server did not respond", "The server did not respond."),
        ("sign in again!", "Sign in again!"),
        ("https://id.example.com cannot be reached", "https://id.example.com cannot be reached."),
        ("éclair is unknown.", "Éclair is unknown."),
        ("", ""),
    ])
    func `a clause becomes a sentence`(clause: String, sentence: String) {
        #expect("\(Sentence(clause))" == sentence)
    }
}
