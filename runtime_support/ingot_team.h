// A team of worker threads that executes consecutive kernels in one parallel_for call.
// SPDX-License-Identifier: MIT-0
//
// Every thread that executes the body is a member, and all members execute the same steps in
// the same order. The iterations of a step are divided into parts: a member takes parts until
// none is left, and continues with the next step when all parts are done. The progress of the
// team is one atomic word. A member never waits for a thread that has not started: a late
// thread skips the steps that are done, and a single thread executes everything. Members take
// parts from both ends, so that each mostly reads the data that it has written itself.

// The progress of a team. Bits of `word`, from the highest: the number of the current step
// (28), and the numbers of its parts that are taken from the front, taken from the back, and
// done (12 each).
struct TeamProgress {
  static constexpr uint64_t most_parts = 0xfff, finished = ~uint64_t(0);

  alignas(64) uint64_t word = 0;
  alignas(64) uint64_t members = 0;

  static uint64_t load(const uint64_t &from) { return __atomic_load_n(&from, __ATOMIC_ACQUIRE); }
  uint64_t load() const { return load(word); }
  void store(uint64_t next) { __atomic_store_n(&word, next, __ATOMIC_RELEASE); }
#if defined(__aarch64__)
  // Inline instructions: the default is a call of the compiler's library.
  __attribute__((target("no-outline-atomics"), noinline))
#endif
  static bool exchange(uint64_t &at, uint64_t &now, uint64_t next) {
    return __atomic_compare_exchange_n(&at, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
  // Adds to the number of members; returns the previous number.
  uint64_t count(uint64_t more) {
    uint64_t now = load(members);
    while (!exchange(members, now, now + more))
      ;
    return now;
  }
  static uint64_t step_of(uint64_t word) { return word >> 36; }
  static uint64_t front_of(uint64_t word) { return word >> 24 & most_parts; }
  static uint64_t back_of(uint64_t word) { return word >> 12 & most_parts; }
  static uint64_t done_of(uint64_t word) { return word & most_parts; }
};

// A member of a team.
class Team {
public:
  // The only member: it executes everything.
  Team() = default;
  // `members` is the number of members that are expected.
  Team(TeamProgress &shared, uint64_t members)
      : progress(&shared), expected(members), number(shared.count(1)) {}
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  // Must be called after the last step.
  void finish() {
    if (leads)
      progress->store(TeamProgress::finished);
  }

  // Runs body(begin, end) for parts of [0, extent); returns when all are done.
  template <typename Body> void share(ptrdiff_t extent, const Body &body) {
    const ingot_body part = [](void *argument, ptrdiff_t begin, ptrdiff_t end) {
      (*static_cast<const Body *>(argument))(begin, end);
    };
    share_parts(extent, part, const_cast<Body *>(&body));
  }
  // Runs body() on one of the members.
  template <typename Body> void once(const Body &body) {
    share(1, [=](ptrdiff_t, ptrdiff_t) { body(); });
  }

private:
  void share_parts(ptrdiff_t extent, ingot_body body, void *argument);

  // Null if this is the only member.
  TeamProgress *progress = nullptr;
  uint64_t expected = 1, number = 0, step = 0;
  // This member completed the previous step and has not published that: as the other members
  // still wait, this member may write `word` without an atomic exchange.
  bool leads = false;
  // This member waited too long for another one and has left the team: the other member
  // may need its processor.
  bool left = false;
};

INGOT_NOINLINE void Team::share_parts(ptrdiff_t extent, ingot_body body, void *argument) {
  // 10 to 50 us: longer than a step takes if each member has a processor.
  constexpr unsigned most_waits = 1000;
  if (extent <= 0 || left)
    return;
  if (!progress)
    return body(argument, 0, extent);
  const uint64_t here = step++, rows = uint64_t(extent), most = TeamProgress::most_parts,
                 parts = rows < most ? rows : most;
  const bool from_back = number % 2 != 0;
  uint64_t members = TeamProgress::load(progress->members);
  // In the first step, other members may still be starting.
  const uint64_t least = here == 0 && expected > 2 ? expected : 2;
  members = members < least ? least : members;
  // A member first takes an equal share of the parts, or half of this share if it has at least 16
  // parts, since parts may take different times; later an equal share of the remaining parts.
  const uint64_t fair = parts / members;
  uint64_t share = fair < 16 ? fair : fair / 2, done = 0;
  uint64_t now = leads ? here << 36 : progress->load();
  for (unsigned waits = 0;;) {
    const uint64_t at = TeamProgress::step_of(now), front = TeamProgress::front_of(now),
                   back = TeamProgress::back_of(now);
    if (at > here)
      return;
    const uint64_t remaining = at < here ? 0 : parts - front - back;
    uint64_t taken = share < 1 ? 1 : share;
    taken = taken < remaining ? taken : remaining;
    if (taken == 0 && TeamProgress::done_of(now) + done == parts) {
      leads = true;
      return;
    }
    if (taken == 0 && done == 0) {
      if (++waits == most_waits) {
        left = true;
        progress->count(~uint64_t(0));
        return;
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("isb");
#endif
      now = progress->load();
      continue;
    }
    const uint64_t next = now + done + (taken << (from_back ? 12 : 24));
    if (leads)
      progress->store(next);
    else if (!progress->exchange(progress->word, now, next))
      continue;
    leads = false;
    done = taken;
    if (taken > 0) {
      // The parts that have one row more are distributed evenly.
      const uint64_t first = from_back ? parts - back - taken : front, last = first + taken,
                     length = rows / parts, longer = rows % parts;
      body(argument, ptrdiff_t(first * length + first * longer / parts),
           ptrdiff_t(last * length + last * longer / parts));
    }
    now = progress->load();
    share = (parts - TeamProgress::front_of(now) - TeamProgress::back_of(now)) / members;
  }
}

// Calls body(team) on each thread that the caller provides, or on this one alone if dividing the
// steps does not pay off. `nanoseconds` is the estimated time of all steps on one thread, divided
// by their cost in forks: one, and a half for each step after the first.
template <typename Body>
inline void in_team(const ingot_context *context, uint64_t nanoseconds, const Body &body) {
  if (!pays_to_fork(context, nanoseconds)) {
    Team alone;
    body(alone);
    return;
  }
  struct Run {
    const Body &body;
    TeamProgress progress;
  } shared = {body, {}};
  // The iterations of the loop whose threads become members: more than there are threads, since
  // later calls find nothing to do. Thread pools often give a thread half of an equal share
  // first, from which `member` estimates the number of threads.
  constexpr ptrdiff_t most_members = 64;
  const ingot_body member = [](void *argument, ptrdiff_t begin, ptrdiff_t end) {
    Run &run = *static_cast<Run *>(argument);
    if (begin >= end || run.progress.load() == TeamProgress::finished)
      return;
    Team team(run.progress, uint64_t(most_members / (2 * (end - begin))));
    run.body(team);
    team.finish();
  };
  context->parallel_for(context->user, most_members, member, &shared);
}
