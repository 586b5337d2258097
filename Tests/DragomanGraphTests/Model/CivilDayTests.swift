import Testing

@testable import DragomanGraph

@Suite("Days of the calendar") struct CivilDayTests {
  @Test(
    "Days have the numbers that they are known by",
    arguments: [
      (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (0, 1, 1, -719_528),
      (0, 3, 1, -719_468), (-1, 12, 31, -719_529), (9999, 12, 31, 2_932_896),
      (-400, 3, 1, -865_565), (1_000_000, 1, 1, 364_522_972),
      (-200_000_000, 6, 15, -73_049_219_362),
    ]
  )
  func numbers(year: Int, month: Int, day: Int, number: Int) {
    #expect(CivilDay.number(year, month, day) == number)
    #expect(CivilDay.civil(number) == (year, month, day))
  }

  @Test("Each day of 400 years follows the one before", arguments: [-400, 0, 1600])
  func eachDay(first: Int) {
    var number = CivilDay.number(first, 1, 1)
    for year in first..<first + 400 {
      for month in 1...12 {
        for day in 1...CivilDay.count(ofMonth: month, in: year) {
          if CivilDay.number(year, month, day) != number
            || CivilDay.civil(number) != (year, month, day)
          {
            Issue.record("\(year)-\(month)-\(day)")
            return
          }
          number += 1
        }
      }
    }
    #expect(number - CivilDay.number(first, 1, 1) == 146_097)
  }
}
