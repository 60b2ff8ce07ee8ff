import Testing

@testable import CounterfoilWeb

struct RequestsInProgressTests {
    private let requests = RequestsInProgress()

    private func answer(_ count: Int) {
        for _ in 0..<count {
            requests.begin()
            requests.end()
        }
    }

    @Test func `requests come one by one when many in a row have met no other`() {
        answer(15)
        #expect(!requests.comeOneByOne)
        requests.begin()
        #expect(requests.comeOneByOne, "while the sixteenth is answered")
        requests.end()
        #expect(requests.comeOneByOne)
    }

    @Test func `one that meets another begins the count anew`() {
        answer(100)
        requests.begin()
        requests.begin()
        #expect(!requests.comeOneByOne)
        requests.end()
        #expect(!requests.comeOneByOne, "the other is there still, and has company behind it")
        requests.end()
        answer(15)
        #expect(!requests.comeOneByOne)
        answer(1)
        #expect(requests.comeOneByOne)
    }
}
